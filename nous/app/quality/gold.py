"""Load gold: sessions with what readers found in them, pairs, learnings and excerpt data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AliasChoices, Field, TypeAdapter, ValidationError

from nous.domain.episode import Outcome, Quote
from nous.domain.errors import BadInput
from nous.transcript import Transcript, parse_transcript, read_transcript, split_sessions
from nous.transcript.io.byte_source import ByteSource
from nous.transcript.load import accessing, opened
from nous.transcript.model import Entry, Kind
from nous.transcript.parsing.values import as_object, parsed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GoldStatement:
    """A fact or an answer of a session, or one of a pair; a session's is a `must` or `nice`."""

    text: Annotated[str, Field(validation_alias=AliasChoices("text", "answer"))]
    subject: str = ""
    turns: tuple[int, ...] = ()
    level: str = "must"


@dataclass(frozen=True, slots=True)
class GoldSession:
    """A session as a reader understood it; `Gold.transcript` reads its `file`."""

    file: str
    title: str
    outcome: Outcome
    alt_outcome: Outcome | None = None
    facts: tuple[GoldStatement, ...] = ()
    not_facts: tuple[GoldStatement, ...] = ()
    answers: tuple[GoldStatement, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldLesson:
    """Judgement that a session deserves a lesson or none, and the lesson's turns."""

    file: str
    deserves: bool
    lesson: str | None = None
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldQuote(Quote):
    text: Annotated[str, Field(validation_alias="quote")]


@dataclass(frozen=True, slots=True)
class GoldQuotes:
    """Quotes that a model would give for a fact of a session; `fact` is its place in the list."""

    file: str
    fact: int
    quotes: tuple[GoldQuote, ...]


Quotes = Mapping[tuple[str, int], Sequence[GoldQuote]]


@dataclass(frozen=True, slots=True)
class GoldPair:
    """Two statements; `b` is the later one unless `newer` is `a`."""

    id: str
    a: GoldStatement
    b: GoldStatement
    label: Literal["same", "a_in_b", "b_in_a", "update", "both", "apart"]
    newer: Literal["a", "b"] | None = None


@dataclass(frozen=True, slots=True)
class Learning:
    session: str
    fact: str

    @property
    def number(self) -> int:
        """A number that deals it into a part, the same in every run."""
        return int.from_bytes(blake2b(self.fact.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class GoldTurn:
    """A normalised record of a session; an unknown role counts as the assistant's."""

    role: str = ""
    text: str = ""
    short: str = ""
    tool: str | None = None
    paths: tuple[str, ...] = ()
    error: bool = False
    decision: bool = False
    rejected: bool = False

    def entry(self, name: str) -> Entry:
        """Return the entry that a reader would have made of it; the text of a call has its input."""
        kinds = {**{kind.value: kind for kind in Kind}, "event": Kind.SYSTEM}
        kind, text, given = kinds.get(self.role, Kind.ASSISTANT), self.text or self.short, None
        if self.decision or self.rejected:
            kind, (_, found, reason) = Kind.DECISION, text.partition("the user said:\n")
            text = f"Rejected {self.tool or 'a call'}: {reason}" if found else text
        elif kind is Kind.TOOL_CALL:
            given = as_object(parsed(text.partition("(")[2].removesuffix(")"))) or None
            text = self.short or text
        failed = kind is Kind.TOOL_RESULT and self.error
        return Entry(kind, text, name, tool=self.tool, tool_input=given, paths=self.paths, is_error=failed)


@dataclass(frozen=True, slots=True)
class GoldExcerpt:
    """A session, and what an excerpt of it should keep: category, kind and text of each item."""

    turns: tuple[GoldTurn, ...]
    gold: tuple[tuple[str, str, str], ...]
    chars: int

    def exceeds(self, budget: int) -> bool:
        """Return whether it is clearly longer; the others say little of what is chosen."""
        return self.chars > 1.1 * budget


def transcript_of(turns: Sequence[GoldTurn]) -> Transcript:
    entries: list[Entry] = []
    number = 0
    for turn in turns:
        entry = turn.entry(f"e{len(entries)}")
        number += entry.kind is Kind.USER
        entries.append(entry._replace(turn=number))
    size = sum(len(entry.text) for entry in entries)
    return Transcript(format="normalised", entries=tuple(entries), digest="0" * 64, bytes=size)


@dataclass(frozen=True, kw_only=True)
class Gold:
    """Gold of a folder; what it lacks is empty. `quotes` are by file and place of the fact."""

    folder: Path
    sessions: Sequence[GoldSession] = ()
    lessons: Sequence[GoldLesson] = ()
    quotes: Quotes = field(default_factory=dict)
    pairs: Sequence[GoldPair] = ()
    learnings: Sequence[Learning] = ()
    excerpts: Mapping[str, Sequence[GoldExcerpt]] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what *folder* has. Raises `BadInput` if it has no gold, or a line of it is wrong."""

        def rows(name: str, kind: type[T]) -> Sequence[T]:
            return [row for path in sorted(folder.glob(f"gold/{name}*.jsonl")) for row in rows_in(path, kind)]

        found = cls(
            folder=folder,
            sessions=rows("episodes", GoldSession),
            lessons=rows("lessons", GoldLesson),
            quotes={(row.file, row.fact): row.quotes for row in rows("quotes", GoldQuotes)},
            pairs=rows("pairs", GoldPair),
            learnings=[each for path in folder.glob("facts/learnings.json") for each in learnings_in(path)],
            excerpts=excerpts_in(folder / "retention"),
        )
        if not any((found.files, found.pairs, found.learnings, found.excerpts)):
            raise BadInput(f"{folder} has no gold: no gold/*.jsonl, facts/learnings.json or retention/*.jsonl.gz")
        return found

    @property
    def files(self) -> Sequence[str]:
        """The sessions of which anything is known."""
        return list(dict.fromkeys(each.file for each in (*self.sessions, *self.lessons)))

    def transcript(self, file: str) -> Transcript:
        """Read *file*, packed or not; `#n` behind it is the n-th session of a file of many."""
        name, _, number = file.partition("#")
        with accessing(self.folder / name):
            path = next((path for end in ("", ".gz") if (path := self.folder / f"{name}{end}").exists()), None)
        if path and not number:
            return read_transcript(path)
        is_place = number.isdecimal() and len(number) < 10  # as much as `islice` takes
        parts = islice(split_sessions(path), int(number), None) if path and is_place else iter(())
        if part := next(parts, None):
            return parse_transcript(part.content, source=file)
        raise BadInput(f"the gold names the session {file}, which is not in {self.folder}")


def rows_in(path: Path, kind: type[T]) -> Sequence[T]:
    """Read JSON lines, packed or not. Raises `BadInput` with the file and the line."""
    lines = enumerate(_content(path).splitlines(), start=1)
    adapter = TypeAdapter(kind)
    return [_validated(line, adapter, f"{path}, line {number}") for number, line in lines if line.strip()]


def learnings_in(path: Path) -> Sequence[Learning]:
    """Read a list of statements, each once, from the session that said it first."""
    found = _validated(_content(path), TypeAdapter(list[Learning]), str(path))
    return list({each.fact.casefold(): each for each in reversed(found)}.values())


def excerpts_in(folder: Path) -> Mapping[str, Sequence[GoldExcerpt]]:
    """Read every data set, by its name."""
    return {
        path.name.removesuffix(".jsonl.gz"): rows_in(path, GoldExcerpt) for path in sorted(folder.glob("*.jsonl.gz"))
    }


def _validated(raw: bytes, adapter: TypeAdapter[T], place: str) -> T:
    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise BadInput(f"{place}: {' '.join(map(str, (*first['loc'], first['msg'])))}") from None


def _content(path: Path) -> bytes:
    with opened(path) as stream:
        source = ByteSource.on(stream)
        content = source.buffered().read()
    if source.damage:
        raise BadInput(f"{path}: {source.damage}")
    return content
