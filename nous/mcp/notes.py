"""Answers of the MCP tools, as text and as structured content, both cut at whole notes.

A host shows its agent only one of the two: Claude Code the structured content, others the text. So each says all, also
that it holds notes and no instructions.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import orjson
from mcp_types import CallToolResult, TextContent

from nous.cli.memory_text import place_text
from nous.cli.output import counted, day
from nous.retrieval.context import HEAD, fenced
from nous.retrieval.provenance import Evidence, RelatedFact
from nous.retrieval.query import Hit
from nous.text.sanitize import one_line, readable, shortened

LONGEST = 4000  # characters of an answer, in either form
_LONGEST_TEXT = 1000  # characters of a stored text
_LONGEST_REMARK = 300
_MOST_QUOTES = 2


class Note(NamedTuple):
    """An entry of an answer, in its two forms."""

    text: str
    fields: Mapping[str, Any]

    @classmethod
    def of_hit(cls, hit: Hit) -> Self:
        text, place, score = shown(hit.text), place_text(hit.session_id, hit.turns), round(hit.score, 3)
        about = f"{hit.kind}, {hit.trust.word}'s words, {place}, {day(hit.date)}, score {score:g}, id {hit.id}"
        fields = {"id": hit.id, "kind": hit.kind, "text": text, "date": day(hit.date), "session": hit.session_id}
        return cls(f"- {text} ({about})", fields | {"turns": hit.turns, "trust": hit.trust, "score": score})

    @classmethod
    def of_evidence(cls, evidence: Evidence) -> Self:
        source, text, reason = evidence.source, shown(evidence.text), shown(evidence.reason)
        date, place = day(source.said_at or evidence.at), place_text(source.session_id, source.turns)
        quotes = [*map(shown, evidence.quotes[:_MOST_QUOTES])]
        line = f"- said in {place}, {date}, {source.trust.word}'s words: {text} ({reason})"
        fields = {"relation": "said", "text": text, "date": date, "session": source.session_id, "turns": source.turns}
        fields |= {"trust": source.trust, "reason": reason, "quotes": quotes}
        return cls("\n".join([line, *(f"  > {quote}" for quote in quotes)]), fields)

    @classmethod
    def of_relative(cls, other: RelatedFact) -> Self:
        text, reason, date = shown(other.text), shown(other.reason), day(other.at)
        fields = {"relation": other.relation, "id": other.fact_id, "text": text, "date": date, "reason": reason}
        return cls(f"- it {other.relation} {other.fact_id}, {date}: {text} ({reason})", fields)


def shown(text: str) -> str:
    """Return stored *text* on one line, without invisible characters, of a length that fits."""
    return shortened(one_line(text), _LONGEST_TEXT)


def of_notes(
    notes: Sequence[Note], *, noun: str, more: str, about: Note | None = None, remarks: Sequence[str] = ()
) -> CallToolResult:
    """Return as many *notes* as fit, below what they are *about*, and a count of the others.

    *noun* names what is counted, and *more* says how to see them.
    """
    remarks = [shortened(one_line(each), _LONGEST_REMARK) for each in remarks]

    def build(kept: int) -> tuple[str, dict[str, Any]]:
        rest = len(notes) - kept
        last = [*remarks, f"{counted(rest, f'more {noun}')}: {more}"] if rest else remarks
        told = [*([about] if about else []), *notes[:kept]]
        text = [fenced("\n".join(note.text for note in told))] if told else []
        fields = {"notice": HEAD, **(about.fields if about else {}), "notes": [note.fields for note in notes[:kept]]}
        return "\n".join([*text, *last]), fields | {"remarks": last}

    fitting = (build(kept) for kept in range(len(notes), 0, -1))
    return of_text(*next((each for each in fitting if _fits(*each)), build(0)))


def _fits(text: str, fields: Mapping[str, Any]) -> bool:
    return max(len(text), len(orjson.dumps(fields).decode())) <= LONGEST


def of_text(text: str, fields: dict[str, Any] | None = None, *, is_error: bool = False) -> CallToolResult:
    """Return *text* as an answer; with *fields*, a host may show those in its place."""
    content = TextContent(type="text", text=readable(text))
    return CallToolResult(content=[content], structured_content=fields, is_error=is_error)
