"""Programs of agent SDKs: sessions that reached the server, and a town in which they run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from builders.town import HERE, running, talkative
from nous.app.container import default_container
from nous.bus.base import Priority
from nous.cli.facts import teach
from nous.domain.episode import CandidateFact, Trust
from nous.domain.event_codec import decode
from nous.domain.events import SessionCompacting, SessionEnded, SessionTouched
from nous.services.memory import known_facts
from nous.transcript import parse_transcript

RULE = "Always deploy with the rocket command from now on."
QUESTION = "Which port does billing use?"
FIRST_RUN = [
    ("user", QUESTION),
    ("tool_call", "port_of"),
    ("tool_result", "billing listens on 9017"),
    ("assistant", "It is 9017."),
]


Told = TypeVar("Told", SessionEnded, SessionCompacting, SessionTouched)


def received(kind: type[Told]) -> list[Told]:
    """The events of *kind* on the server of this process, oldest first."""
    container = default_container()
    client: Any = container.client
    entries = client.xrange(container.bus_keys.stream(kind.type, Priority.LIVE))
    events = [decode(fields[b"event"], type_hint=kind.type) for _, fields in entries]
    return [event for event in events if isinstance(event, kind)]


def ends() -> list[SessionEnded]:
    return received(SessionEnded)


def said(event: SessionEnded) -> list[tuple[str, str]]:
    """The entries of a published session, as (kind, text)."""
    content = event.transcript if isinstance(event.transcript, str) else list(event.transcript or ())
    return [(entry.kind.value, entry.text) for entry in parse_transcript(content)]


def learned_of(run: Callable[[], str], directory: Path) -> list[tuple[str, int]]:
    """The statements of the rule and its confirmations, after *run* in a town that knows it.

    *run* returns what the model was given; the model of the town states as a fact each line that it is shown.
    """
    with running(directory, talkative) as town:
        teach(town.container, HERE, "mon", [CandidateFact(text=RULE, trust=Trust.USER)])
        given = run()
        town.settle()
        facts = known_facts(town.container.memory, HERE)
    assert RULE in given
    assert len(facts) > 1
    return [(known.fact.text, known.times_confirmed) for known in facts if "rocket" in known.fact.text]
