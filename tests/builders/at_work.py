"""A user at work, to whose every word the agent runs something and says "Ok."."""

from collections.abc import Callable
from typing import Any

from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.transcript.model import Transcript

RUN = ("tool_call", "Bash(ls)", {"tool": "Bash", "tool_input": {"command": "ls"}})
"""What makes a session one of work."""


def texts(told: Callable[..., Transcript], *said: str) -> list[str]:
    """The facts of such a session, in which the user *said* this, one turn each."""
    replies: list[tuple[Any, ...]] = [entry for each in said for entry in (("user", each), RUN, ("assistant", "Ok."))]
    return [fact.text for fact in candidate_facts(Evidence(told(*replies)))]
