"""What "the code", "the plan" or "the fix" is by name, to somebody who was not there."""

import re

from nous.actions import subject_of_commit, written_files
from nous.summary.evidence import Evidence
from nous.transcript.model import Entry

_CHANGED = re.compile(
    r"(?P<verb>\w+(?: \w+ly)?) the (?:\w+ )?(?:code|fix|changes?|plan|implementation|logic)\b"
    r"(?! (?:in|of|for|at|from)\b| ?[`(])"
)
_PLAN = re.compile(r"[#*\s]*(?:Plan:\s*)?(?P<title>[^\n*]+)")


def named_report(text: str, turn: int, evidence: Evidence) -> str | None:
    """A report with the file of its turn where it begins with what was done to "the code"; None if that has no name."""
    nameless = _CHANGED.match(text)
    if nameless is None:
        return text
    written = {path for action in evidence.actions if action.call.turn == turn for path in written_files(action)}
    file = written.pop().rpartition("/")[2] if len(written) == 1 else None
    return f"{nameless['verb']} `{file}`{text[nameless.end() :]}" if file else None


def title_of_call(call: Entry | None) -> str | None:
    """By what somebody else would know what *call* put to the user: a plan by its title, a commit by its subject."""
    given = call.tool_input if call and call.tool_input else {}
    plan, command = given.get("plan"), given.get("command")
    if isinstance(plan, str) and (titled := _PLAN.match(plan)):
        return f"the plan “{titled['title'].strip()}”"
    subject = subject_of_commit(command) if isinstance(command, str) else None
    return f"the commit “{subject}”" if subject else None
