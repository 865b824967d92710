"""Data model of a transcript, independent of the file format."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

from nous.domain.episode import Trust


class Kind(StrEnum):
    """Kind of an entry: `USER` is a person's words, `DECISION` an approval, rejection or answer."""

    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    DECISION = "decision"
    ERROR = "error"
    SUB_AGENT = "sub_agent"
    SUMMARY = "summary"
    SYSTEM = "system"


WEB_TOOLS = frozenset(
    {
        *("WebFetch", "WebSearch", "web_fetch", "web_search", "google_web_search", "webfetch", "websearch"),
        *("FetchUrl", "FetchURL", "search_web", "read_url_content", "codesearch", "browser", "web", "web.run"),
    }
)
"""Tools with results from the web, which anyone may have written."""

_TRUST = {
    Kind.USER: Trust.USER,
    Kind.DECISION: Trust.USER,
    Kind.SYSTEM: Trust.SYSTEM,
    Kind.TOOL_RESULT: Trust.TOOL,
    Kind.ERROR: Trust.TOOL,
}


class Entry(NamedTuple):
    """One message, tool call, result or other record of a session.

    `id` is unique in its transcript and stable across reads. `turn` counts real user prompts from 1 (0 before the
    first). `paths` are the files that a call names, and `call_id` pairs it with its result. `line` (from 1) and
    `offset` (bytes from the start of the uncompressed file) are 0 if unknown. What a program wrote in a person's or
    the model's place (`is_meta`), and what was said inside a sub-agent (`agent` is its id), is left out unless
    asked for.
    """

    kind: Kind
    text: str
    id: str
    turn: int = 0
    time: datetime | None = None
    tool: str | None = None
    tool_input: Mapping[str, Any] | None = None
    call_id: str | None = None
    is_error: bool = False
    line: int = 0
    offset: int = 0
    paths: tuple[str, ...] = ()
    agent: str | None = None
    is_meta: bool = False

    @property
    def trust(self) -> Trust:
        trust = _TRUST.get(self.kind, Trust.ASSISTANT)
        return Trust.WEB if trust is Trust.TOOL and self.tool in WEB_TOOLS else trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Session metadata from the file; None for what the file does not state.

    `input_tokens` (including cached ones) and `output_tokens` are only read from sessions of Claude Code. They count
    each answer of the model once, even if the file repeats it.
    """

    session_id: str | None = None
    title: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An unreadable line (from 1; 0 if unknown), and the reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A user prompt and everything up to the next one; turn 0 is everything before the first."""

    number: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A parsed session: entries in file order, and counts of skipped content by reason.

    `digest` is the sha256 (hex) and `bytes` the length of the uncompressed file. `confidence`, up to 1, is the
    certainty that `format` is right. `problems` are the first unreadable lines; `skipped` counts all of them.
    """

    format: str
    entries: tuple[Entry, ...]
    digest: str
    bytes: int
    confidence: float = 1.0
    header: Header = field(default_factory=Header)
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    problems: tuple[Problem, ...] = ()
    source: str = ""

    @property
    def turns(self) -> Sequence[Turn]:
        return tuple(
            Turn(number=number, entries=tuple(entries))
            for number, entries in groupby(self.entries, key=lambda entry: entry.turn)
        )

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def started_at(self) -> datetime | None:
        return next((entry.time for entry in self.entries if entry.time), None)

    @property
    def ended_at(self) -> datetime | None:
        return next((entry.time for entry in reversed(self.entries) if entry.time), None)


MOST_PROBLEMS = 100
"""Maximum number of unreadable lines that are listed; the rest are only counted."""


@dataclass(slots=True)
class ReadNotes:
    header: Header = field(default_factory=Header)
    skipped: Counter[str] = field(default_factory=Counter[str])
    problems: list[Problem] = field(default_factory=list[Problem])

    def skip(self, reason: str) -> None:
        self.skipped[reason] += 1

    def trouble(self, reason: str, line: int) -> None:
        """Count content that could not be read, and record its line."""
        self.skipped[reason] += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(line, reason))

    def learn(self, **said: str | int | None) -> None:
        """Fill in header fields that are not known yet."""
        new = {name: value for name, value in said.items() if value and getattr(self.header, name) is None}
        if new:
            self.header = replace(self.header, **new)  # pyright: ignore[reportArgumentType] fields are str | int | None
