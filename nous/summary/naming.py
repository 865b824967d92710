"""What "the plan" or "the commit" is by name, to somebody who was not there."""

import re

from nous.actions import subject_of_commit
from nous.summary.statements import shortened
from nous.transcript.model import Entry

_PLAN = re.compile(r"[#*\s]*(?:Plan:\s*)?(?P<title>[^\s*][^\n*]*)")
_LONGEST = 120


def title_of_call(call: Entry | None) -> str | None:
    """By what somebody else would know what *call* put to the user: a plan by its title, a commit by its subject."""
    given = call.tool_input if call and call.tool_input else {}
    plan, command = given.get("plan"), given.get("command")
    if isinstance(plan, str) and (titled := _PLAN.match(plan)):
        return f"the plan “{shortened(titled['title'].strip(), _LONGEST)}”"
    subject = subject_of_commit(command) if isinstance(command, str) else None
    return f"the commit “{shortened(subject, _LONGEST)}”" if subject else None
