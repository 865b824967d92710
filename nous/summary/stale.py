"""What was said of things that the session then went on to change: it was true when it was said."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from nous.actions import Action, written_files
from nous.language import words
from nous.summary.evidence import Evidence, is_undone
from nous.summary.names import names_in
from nous.summary.statements import Statement
from nous.transcript.model import Entry

_TAKES_AWAY = re.compile(r"(?:^|[;&|(\n])\s*(?:git )?(?P<how>rm|unlink|mv)\s+(?P<named>[^;&|()\n]+)")
_OLD = ("old_string", "oldText", "old_str")
_NEW = ("new_string", "newText", "new_str", "content")


class _Edit(NamedTuple):
    old: str
    new: str


def is_mended(one: Statement, evidence: Evidence) -> bool:
    """Whether *one* says what is before its reader just now, or what is wrong with what was changed afterwards."""
    known = words()
    if known.opens("of_the_moment", one.text) or known.opens("on_show", one.text) or known.says("new_here", one.text):
        return True
    is_fault = known.says("faulty", one.text) and not known.says("holds_anyway", one.text)
    return is_fault and is_changed(one, evidence)


def is_changed(one: Statement, evidence: Evidence) -> bool:
    """Whether a name in *one* is in what was changed in its turn, or later."""
    later = [str(call.tool_input or call.text) for call in evidence.changes if call.turn >= one.turn]
    return any(name in change for name in names_in(one.text) if name for change in later)


def is_gone(text: str, turn: int, evidence: Evidence) -> bool:
    """Whether a turn after *turn* took out of the code what *text* names, or took away the file."""
    return any(_is_taken_out(name, turn, evidence) or _is_taken_away(name, turn, evidence) for name in names_in(text))


def _is_taken_out(name: str, turn: int, evidence: Evidence) -> bool:
    """Whether the last edit after *turn* that has *name* has it only in what it replaced."""
    later = (edit for call in reversed(evidence.changes) if call.turn > turn for edit in reversed(_edits(call)))
    last = next((edit for edit in later if _has(edit.old, name) or _has(edit.new, name)), None)
    return last is not None and not _has(last.new, name)


def _has(text: str, name: str) -> bool:
    """Whether *name* is in *text*, and not as a part of a longer one."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _edits(call: Entry) -> Sequence[_Edit]:
    """What each part of *call* replaces, and by what."""
    given: Mapping[str, Any] = call.tool_input or {}
    parts = given.get("edits")
    told = cast("list[object]", parts) if isinstance(parts, list) else [given]
    edits = [cast("Mapping[str, object]", part) for part in told if isinstance(part, Mapping)]
    return [_Edit(_joined(edit, _OLD), _joined(edit, _NEW)) for edit in edits]


def _joined(edit: Mapping[str, object], keys: Sequence[str]) -> str:
    return " ".join(str(edit[key]) for key in keys if key in edit)


def _is_taken_away(file: str, turn: int, evidence: Evidence) -> bool:
    """Whether the last that was done to *file* after *turn* was to remove or to move it."""
    is_away = False
    for action in evidence.actions:
        if action.call.turn > turn and not is_undone(evidence.results.get(action.call.id)):
            is_written = any(_is_in(file, path) for path in written_files(action))
            is_away = _takes_away(action, file) or (is_away and not is_written)
    return is_away


def _takes_away(action: Action, file: str) -> bool:
    for found in _TAKES_AWAY.finditer(action.command):
        paths = [word.strip("'\"") for word in found["named"].split() if not word.startswith("-")]
        if any(_is_in(file, path) for path in (paths[:-1] if found["how"] == "mv" else paths)):
            return True
    return False


def _is_in(file: str, path: str) -> bool:
    """Whether *path* is that of *file*, which may be told from further up, or of a directory that it is in."""
    return f"/{path}".endswith(f"/{file}") or f"/{file}/".startswith(f"/{path.rstrip('/')}/")
