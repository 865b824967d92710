"""Build JSON schema and prompt text for a model's rolling summary; convert its JSON answer."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from nous.domain.anchored_summary import LABELS, AnchoredSummary, AnchoredSummarySection, label_of
from nous.domain.errors import BadInput
from nous.domain.summary_input import Segment
from nous.summary.anchored.retention import lines_of
from nous.summary.llm.prompt import fenced
from nous.summary.llm.response import text_of
from nous.text.sentences import TICKS

_PROSE = frozenset({"intent", "current_state"})  # sections that may be running text; the others are lists by convention
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,9}[.)])\s")
# Marks that a text could imitate the headings and the end of the notes with.
_STRUCTURE = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]|</?)")

_ASKED = {
    "intent": "What the user wants of the session, with every constraint. One per item.",
    "decisions": "What was decided or learned, each with its reason.",
    "files_touched": "Paths of files that were written, one per item.",
    "pending_tasks": "What is left to do.",
    "current_state": "Where the work stands now.",
}


def schema() -> dict[str, Any]:
    texts = {"type": "array", "items": {"type": "string"}}
    sections = {id_: {**texts, "description": asked} for id_, asked in _ASKED.items()}
    return {"type": "object", "properties": sections, "required": list(sections), "additionalProperties": False}


def read(value: Mapping[str, Any]) -> tuple[AnchoredSummarySection, ...]:
    """Return the sections; a missing one is blank. Raises `BadInput`, worded for the model."""
    if not any(value.get(id_) for id_ in LABELS):
        raise BadInput(f"The answer says nothing in any of its sections; write {', '.join(LABELS)}.")
    return tuple(AnchoredSummarySection(id_, label_of(id_), _content(id_, value.get(id_))) for id_ in LABELS)


def user_message(previous: AnchoredSummary | None, segments: Sequence[Segment]) -> str:
    """Return the summary so far and the news, each in a fence it cannot close."""
    so_far = fenced([Segment(previous.to_prompt_text() if previous else "")], name="notes")
    return f"The summary so far:\n{so_far}\n\nNew since then:\n{fenced(segments)}"


def _content(id_: str, said: object) -> str:
    """Return *said* as Markdown: a prose section's only text as it is, anything else as bullets."""
    items = cast("list[object]", said) if isinstance(said, list) else [said]
    texts = [_STRUCTURE.sub("", text) for each in items if (text := text_of(each))]
    if id_ in _PROSE and len(texts) == 1:
        return texts[0]
    lines = texts if len(texts) > 1 else [line for text in texts for line in lines_of(text)]
    return "\n".join(line if _BULLET.match(line) or TICKS in line else _bullet(line) for line in lines)


def _bullet(text: str) -> str:
    return f"- {text.strip()}".replace("\n", "\n  ")
