"""Parse plain text into entries by speaker labels (`User: ...`, `### Assistant`), if any.

A label begins a turn at the start of a line. A file keeps to the style of its first label, and
to one name for each speaker: `Note:`, a quoted `User:` in another style or a `Client:` beside the `User:` begin no
turn.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from nous.transcript.io.byte_source import Line, is_text
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.chat import reports_failure
from nous.transcript.parsing.markdown import BoundedText, TextLine
from nous.transcript.parsing.sessions import drafts_of_user
from nous.transcript.parsing.user_text import without_colour
from nous.transcript.reader import Draft, FormatReader, LineReading, RecordPlace, Sample

_WHO = {
    Kind.USER: ("user", "human", "customer", "client"),
    Kind.ASSISTANT: ("assistant", "ai", "agent", "bot", "model", "claude", "chatgpt", "gpt", "gemini"),
    Kind.TOOL_RESULT: ("tool", "function", "observation", "tool result"),
    Kind.SYSTEM: ("system",),
}
_KINDS = {label: kind for kind, labels in _WHO.items() for label in labels}
_NAMES = "|".join(sorted(_KINDS, key=len, reverse=True))
_LABEL = re.compile(
    rf"(?P<before>#{{1,6}} +(?:\*\*)?|\*\*|\[)?(?P<name>{_NAMES})(?P<after>:\*\*|\*\*:|\]:?|\*\*|:|(?=\s*$))",
    re.IGNORECASE,
)
# Beginning of JSON. Text that begins like it but cannot be parsed is damaged JSON, not prose.
_JSON = re.compile(r"[\s\0\ufeff]*(?:\{|\[\s*[\[{])")
_FENCED = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_EMPTY = frozenset({"", "None", "null"})


def _confidence(sample: Sample) -> float:
    if not is_text(sample.text) or _JSON.match(sample.text):
        return 0.0
    # A note that shows a conversation in fenced code is none itself.
    labels = [label for line in _FENCED.sub("", sample.text).splitlines() if (label := _label(line))]
    return 0.9 if len({label.kind for label in labels}) > 1 else 0.5 if labels else 0.3


@dataclass(frozen=True, slots=True)
class _Label:
    """A label: the speaker, the style in which it is written, and the rest of its line."""

    kind: Kind
    name: str
    style: tuple[str, bool]
    rest: str


@dataclass(slots=True)
class _Turn:
    kind: Kind
    place: RecordPlace
    is_labelled: bool = False
    text: BoundedText = field(default_factory=BoundedText)

    def drafts(self, notes: ReadNotes) -> Iterable[Draft]:
        text = without_colour("\n".join(self.text.lines)).strip()
        if text in _EMPTY:
            if text or self.is_labelled:
                notes.skip("empty turn")
            return ()
        if self.kind is Kind.USER:
            return drafts_of_user([text], self.place, notes)
        failed = self.kind is Kind.TOOL_RESULT and reports_failure(text)
        return (self.place.draft(Kind.ERROR if failed else self.kind, text, is_error=failed),)


@dataclass(slots=True)
class _Text(LineReading):
    """The turns; text before the first label has no speaker, text without labels is the user's."""

    style: tuple[str, bool] | None = None
    names: dict[Kind, str] = field(default_factory=dict[Kind, str])
    turn: _Turn | None = None

    def entries(self, line: Line) -> Iterable[Draft]:
        now = TextLine.of(line)
        place = RecordPlace(f"line-{now.number}", now.number, now.offset)
        label = self._begun_by(now.text)
        ended: Iterable[Draft] = ()
        if label:
            if self.turn and not self.turn.is_labelled:
                self.turn.kind = Kind.SYSTEM
            ended = self.turn.drafts(self.notes) if self.turn else ()
            self.style = label.style
            self.names[label.kind] = label.name
            self.turn = _Turn(label.kind, place, is_labelled=True)
        self.turn = self.turn or _Turn(Kind.USER, place)
        if not self.turn.text.add(label.rest if label else now.text):
            self.notes.skip("lines of an endless turn")
        return ended

    def conclude(self) -> Iterable[Draft]:
        return self.turn.drafts(self.notes) if self.turn else ()

    def _begun_by(self, text: str) -> _Label | None:
        label = _label(text)
        if label is None or self.style not in {None, label.style}:
            return None
        return label if self.names.get(label.kind, label.name) == label.name else None


def _label(line: str) -> _Label | None:
    found = _LABEL.match(line)
    if not found or not (found["before"] or found["after"]):
        return None
    before = (found["before"] or "").strip()
    name = found["name"].lower()
    style = (before + found["after"], found["name"][0].isupper())
    return _Label(_KINDS[name], name, style, line[found.end() :].strip())


READER = FormatReader("plain_text", _confidence, _Text)
