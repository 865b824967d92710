"""Recover the JSON object from a model's answer, despite surrounding text.

The text is read token by token. Text outside of every bracket is prose or a code fence. Malformed or truncated JSON is
still read to its end, so that no part of it is taken for the answer.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from nous.domain.errors import BadInput

DEEPEST = 64
"""The deepest nesting of brackets; an answer has a few."""

_MOST_ATTEMPTS = 1_000
"""The most objects beside each other that are tried."""

_SPACE = r"[\s\ufeff\u200b\u2060]"
_STRING = r'"(?:[^"\\]++|\\.)*+"'
# Braces that begin no object are skipped at the speed of `re`. A match ends with the next bare quotation mark and a
# colon, so that no part of a text is scanned more than a few times.
_OPENING = re.compile(rf"(?:\[{_SPACE}*+)?\{{{_SPACE}*+{_STRING}{_SPACE}*+:", re.DOTALL)
_EMPTY = re.compile(rf"\{{{_SPACE}*+\}}")
_TOKEN = re.compile(
    rf'{_SPACE}*+(?:(?P<string>"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))'
    r"|(?P<mark>[{}\[\],:])|(?P<scalar>-?\d[\d.eE+-]*+|true\b|false\b|null\b|NaN\b|-?Infinity\b)|(?P<other>\S))",
    re.DOTALL,
)
_FENCE = re.compile(rf"(?:{_SPACE}|```+\w*)*+")


def object_in(text: str) -> dict[str, Any]:
    """Return the largest JSON object in *text* that can be parsed completely.

    Raises:
        BadInput: there is none, or a larger one never closes. The message is a sentence that can be sent to the model;
            it
            quotes nothing.
    """
    best: _Attempt | None = None
    worst: _Attempt | None = None
    for attempt in _attempts(text):
        if attempt.value is not None and (best is None or attempt.size > best.size):
            best = attempt
        elif attempt.value is None and (worst is None or attempt.rank > worst.rank):
            worst = attempt
    if worst and (best is None or (worst.stack and worst.size > best.size)):
        raise BadInput(_complaint(worst))
    if best is None:
        if _EMPTY.search(text):
            return {}
        raise BadInput(_nothing_in(text))
    if not isinstance(best.value, dict):
        raise BadInput("The answer is a JSON array; write one JSON object.")
    return cast("dict[str, Any]", best.value)


@dataclass(slots=True)
class _Attempt:
    """Parser state from `start` on: `stack` holds open brackets, `awaited` the expected token."""

    start: int
    end: int = 0
    stack: list[str] = field(default_factory=list[str])
    pieces: list[str] = field(default_factory=list[str])
    awaited: str = "value"
    broke_at: int | None = None
    value: Any = None

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def rank(self) -> tuple[bool, int]:
        """Rank among failed attempts: an object that never closes is what the model was writing."""
        return bool(self.stack), self.size

    def read(self, text: str) -> None:
        for token in _TOKEN.finditer(text, self.start):
            kind = token.lastgroup or ""
            piece = token[kind]
            kind, self.end = piece if kind == "mark" else kind, token.end()
            if self.broke_at is None and not self._takes(kind, piece):
                self.broke_at = token.start(token.lastgroup or 0)
            if self.broke_at is not None:
                self._skip(kind)
            if not self.stack:
                break
        else:
            self.end = len(text)
        if not self.stack and self.broke_at is None:
            self._parse()

    def _takes(self, kind: str, piece: str) -> bool:
        """Consume a token if it may stand here, and return whether it did.

        A comma before a closing bracket is left out.
        """
        match self.awaited, kind:
            case (("value" | "item"), ("{" | "[")):
                self._open(kind)
            case (("key" | "comma"), "}") | (("item" | "comma"), "]") if self.stack[-1] == "[{"[kind == "}"]:
                self._close()
            case "key", "string":
                self.awaited = "colon"
            case "colon", ":":
                self.awaited = "value"
            case (("value" | "item"), ("string" | "scalar")):
                self.awaited = "comma"
            case "comma", ",":
                self.awaited = "key" if self.stack[-1] == "{" else "item"
            case _:
                return False
        self.pieces.append(piece)
        return True

    def _open(self, bracket: str) -> None:
        self.stack.append(bracket)
        if len(self.stack) > DEEPEST:
            raise BadInput(f"The JSON is nested more than {DEEPEST} brackets deep; write a plain object.")
        self.awaited = "key" if bracket == "{" else "item"

    def _close(self) -> None:
        self.stack.pop()
        self.awaited = "comma"
        if self.pieces[-1] == ",":
            self.pieces.pop()

    def _skip(self, kind: str) -> None:
        if kind in {"{", "["}:
            self.stack.append(kind)
        elif kind in {"}", "]"}:
            self.stack.pop()

    def _parse(self) -> None:
        try:
            self.value = json.loads("".join(self.pieces), strict=False)
        except ValueError:  # a number such as 1.2.3, or an unknown escape
            self.broke_at = self.start


def _attempts(text: str) -> Iterator[_Attempt]:
    """Yield attempts at top-level objects with a member, or arrays of such objects."""
    position = 0
    for _ in range(_MOST_ATTEMPTS):
        opening = _OPENING.search(text, position)
        if opening is None:
            return
        attempt = _Attempt(opening.start())
        attempt.read(text)
        yield attempt
        position = attempt.end


def _complaint(attempt: _Attempt) -> str:
    if attempt.stack and attempt.broke_at is None:
        return "The JSON object never closes; write the whole object, more briefly."
    at = attempt.start if attempt.broke_at is None else attempt.broke_at
    return (
        f"The JSON is not valid at character {at + 1}; escape quotes and backslashes in strings, and check the commas."
    )


def _nothing_in(text: str) -> str:
    """Return the complaint about *text* without an object."""
    bare = text[cast("re.Match[str]", _FENCE.match(text)).end() :]
    if not bare:
        return "The answer is empty; write one JSON object."
    if bare[0] == "[":
        return "The answer is a JSON array; write one JSON object."
    token = _TOKEN.match(bare)
    if token and token.lastgroup in {"string", "scalar"} and not _FENCE.sub("", bare[token.end() :], count=1):
        return "The answer is a single JSON value; write one JSON object."
    if bare[0] == "{":
        return "The JSON object never closes, or does not begin with a name in quotes; write one whole JSON object."
    return "The answer holds no JSON object; write one."


_BEGIN_ANALYSIS = re.compile(r"<analysis\s*+>", re.IGNORECASE)
_END_ANALYSIS = re.compile(r"</analysis\s*+>", re.IGNORECASE)
_BEGIN_SUMMARY = re.compile(r"<summary\s*+>", re.IGNORECASE)
_END_SUMMARY = re.compile(r"</summary\s*+>", re.IGNORECASE)


def summary_in(text: str) -> str:
    """Return *text* without its analysis, trimmed: the marked summary, or all if none is marked.

    Truncated tags are tolerated: an analysis reaches to a whole summary behind it or else to the end, a summary to the
    end.
    """
    said = _without_analyses(text)
    begin = _BEGIN_SUMMARY.search(said)
    if begin is None:
        return _END_SUMMARY.sub("", said).strip()
    end = _END_SUMMARY.search(said, begin.end())
    return said[begin.end() : end.start() if end else len(said)].strip()


def _without_analyses(text: str) -> str:
    kept: list[str] = []
    position = 0
    while begin := _BEGIN_ANALYSIS.search(text, position):
        kept.append(text[position : begin.start()])
        end = _END_ANALYSIS.search(text, begin.end())
        if end is None:
            return "".join(kept) + _summary_behind(text, begin.end())
        position = end.end()
    return "".join([*kept, text[position:]])


def _summary_behind(text: str, position: int) -> str:
    """Return *text* from the first complete summary on.

    An analysis may mention the tag of a summary.
    """
    begin = _BEGIN_SUMMARY.search(text, position)
    return text[begin.start() :] if begin and _END_SUMMARY.search(text, begin.end()) else ""
