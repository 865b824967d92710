"""What a session changed, ready to be asked for names: nothing is gone through again for each statement."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from nous.actions import Action, taken_away_by, writes, written_files

_WORD = re.compile(r"\w+")
_OLD = ("old_string", "oldText", "old_str")
_NEW = ("new_string", "newText", "new_str", "content")
_DEFINES = (
    r"\b(?:def|class|func|function|fn|type|struct|interface|enum|trait|const|let|var|val|static|mod)"
    r"(?:[ \t]*\([^()\n]*\))?[ \t*]+{name}(?!\w)"
    r"|^[ \t]*(?:[\w.]+[ \t]+)*[\"']?{name}[\"']?[ \t]*(?::|=(?!=)|\([^;\n]*\)[^;\n]*\{{[ \t]*$)"
    r"|[\"']{name}[\"']"
)
"""How code says what a name stands for, and not only uses it: with a keyword, as a key, or as a text."""


class _Edit(NamedTuple):
    place: int
    file: str
    old: str
    new: str


class _Move(NamedTuple):
    place: int
    away: Sequence[str]
    written: Sequence[str]


@dataclass(frozen=True)
class Changed:
    """What was changed by *actions*, each with its place in the transcript, of which none was rejected or failed."""

    actions: Sequence[tuple[int, Action]]

    def has(self, name: str, after: int) -> bool:
        """Whether *name* is in what was changed after the place *after*."""
        if any(self._words.get(word, -1) <= after for word in _WORD.findall(name)):
            return False
        return any(place > after and name in text for place, text in reversed(self._texts))

    def rewrites(self, name: str, after: int) -> bool:
        """Whether an edit after the place *after* put something else in the place of a text that has *name* in it."""
        if any(self._old_words.get(word, -1) <= after for word in _WORD.findall(name)):
            return False
        return any(edit.place > after and name in edit.old for edit in reversed(self._edits))

    def takes_out(self, name: str, after: int) -> bool:
        """Whether the edits after the place *after* took away what *name* stands for, and left it in no other file."""
        if not self.has(name, after):
            return False
        left = {edit.file: is_left for edit, is_left in self._definitions(name) if edit.place > after}
        return bool(left) and not any(left.values())

    def takes_away(self, file: str, after: int) -> bool:
        """Whether the last that was done to *file* after the place *after* was to remove or to move it."""
        is_away = False
        for move in self._moves_of(file):
            if move.place > after:
                is_written = any(_is_in(file, path) for path in move.written)
                is_away = any(_is_in(file, path) for path in move.away) or (is_away and not is_written)
        return is_away

    def _definitions(self, name: str) -> Sequence[tuple[_Edit, bool]]:
        """The edits that touch what *name* stands for, each with whether it leaves that."""
        if name not in self._defined:
            defines = re.compile(_DEFINES.format(name=re.escape(name)), re.MULTILINE)
            named = [edit for edit in self._edits if name in edit.old or name in edit.new]
            found = ((edit, defines.search(edit.new) is not None) for edit in named)
            self._defined[name] = [(edit, is_left) for edit, is_left in found if is_left or defines.search(edit.old)]
        return self._defined[name]

    @cached_property
    def _defined(self) -> dict[str, Sequence[tuple[_Edit, bool]]]:
        """What was found of each name so far."""
        return {}

    def _moves_of(self, file: str) -> Sequence[_Move]:
        """The moves, in order, whose paths share the first or last part of that of *file*."""
        parts = file.strip("/").split("/")
        found = {id(move): move for part in (parts[0], parts[-1]) for move in self._moves_by_part.get(part, ())}
        return sorted(found.values(), key=lambda move: move.place)

    @cached_property
    def _moves_by_part(self) -> Mapping[str, Sequence[_Move]]:
        found: dict[str, list[_Move]] = defaultdict(list)
        for move in self._moves:
            for part in {part for path in (*move.away, *move.written) for part in path.split("/")}:
                found[part].append(move)
        return found

    @cached_property
    def _texts(self) -> Sequence[tuple[int, str]]:
        calls = ((place, action.call) for place, action in self.actions if writes(action))
        return [(place, "\n".join(_texts_in(call.tool_input or call.text))) for place, call in calls]

    @cached_property
    def _words(self) -> Mapping[str, int]:
        """The last place of every word in what was changed."""
        return {word: place for place, text in self._texts for word in _WORD.findall(text)}

    @cached_property
    def _old_words(self) -> Mapping[str, int]:
        """The last place of every word in what was replaced."""
        return {word: edit.place for edit in self._edits for word in _WORD.findall(edit.old)}

    @cached_property
    def _edits(self) -> Sequence[_Edit]:
        return [edit for place, action in self.actions if writes(action) for edit in _edits(action, place)]

    @cached_property
    def _moves(self) -> Sequence[_Move]:
        moves = (_Move(place, taken_away_by(each.command), written_files(each)) for place, each in self.actions)
        return [move for move in moves if move.away or move.written]


def _texts_in(value: object) -> Iterator[str]:
    """The texts in what a call was given, as they are."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        yield from (text for key, each in fields.items() for text in (key, *_texts_in(each)))
    elif isinstance(value, list):
        yield from (text for each in cast("list[object]", value) for text in _texts_in(each))
    else:
        yield str(value)


def _edits(action: Action, place: int) -> Iterator[_Edit]:
    """What each part of *action*, at *place*, replaces, and by what."""
    given: Mapping[str, Any] = action.call.tool_input or {}
    parts = given.get("edits")
    told = cast("list[object]", parts) if isinstance(parts, list) else [given]
    for part in told:
        if isinstance(part, Mapping):
            edit = cast("Mapping[str, object]", part)
            yield _Edit(place, " ".join(action.paths), _joined(edit, _OLD), _joined(edit, _NEW))


def _joined(edit: Mapping[str, object], keys: Sequence[str]) -> str:
    return "\n".join(str(edit[key]) for key in keys if key in edit)


def _is_in(file: str, path: str) -> bool:
    """Whether *path* is that of *file*, which may be told from further up, or of a directory that it is in."""
    return f"/{path}".endswith(f"/{file}") or f"/{file}/".startswith(f"/{path.rstrip('/')}/")
