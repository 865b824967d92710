"""Value types of a session's rolling summary, in sections; convert to JSON and prompt text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from nous.domain.episode import Tier, Tokens
from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.text.token_estimate import estimate

LABELS: Mapping[str, str] = {
    "intent": "Intent",
    "decisions": "Decisions",
    "files_touched": "Files touched",
    "pending_tasks": "Pending tasks",
    "current_state": "Current state",
}
"""The sections of every summary, by id, in their order."""


@dataclass(frozen=True, slots=True)
class AnchoredSummarySection:
    """One section: Markdown, by convention one bullet per line; blank if it says nothing."""

    id: str
    label: str
    content: str = ""


@dataclass(frozen=True, slots=True)
class AnchoredSummary:
    """Subject and current state of a session, for an agent that resumes it.

    The five sections always exist, in their order and under their own labels; others follow. Two sections with one id
    are merged. `iteration` counts how often it was regenerated. A `token_estimate` of 0 is replaced by an estimate of
    the text.
    """

    SCHEMA_VERSION: ClassVar[int] = 1

    sections: tuple[AnchoredSummarySection, ...] = ()
    schema_version: int = SCHEMA_VERSION
    token_estimate: int = 0
    iteration: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", _arranged(self.sections))
        if not self.token_estimate:
            object.__setattr__(self, "token_estimate", estimate(self.to_prompt_text()))

    @classmethod
    def empty(cls) -> "AnchoredSummary":
        """Return a summary without content."""
        return cls()

    @classmethod
    def of(cls, contents: Mapping[str, str], *, iteration: int = 0) -> "AnchoredSummary":
        """Return a summary with *contents* by section id; foreign ids get their own sections."""
        sections = (AnchoredSummarySection(id_, label_of(id_), text) for id_, text in contents.items())
        return cls(tuple(sections), iteration=iteration)

    @property
    def is_empty(self) -> bool:
        """True if all sections are blank."""
        return not any(section.content.strip() for section in self.sections)

    def section(self, id_: str) -> AnchoredSummarySection | None:
        return next((section for section in self.sections if section.id == id_), None)

    def content(self, id_: str) -> str:
        section = self.section(id_)
        return section.content if section else ""

    def to_prompt_text(self) -> str:
        """Return the text for a model: sections that are not blank, each under its label."""
        pairs = [(section.label, section.content.strip()) for section in self.sections]
        return "\n\n".join(f"## {label}\n{content}" for label, content in pairs if content)

    def to_json(self) -> str:
        """Encode as ASCII JSON, so that any content of a section can be stored."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> "AnchoredSummary":
        """Decode what `to_json` wrote; ignore unknown fields. Raises `BadInput` for anything else."""
        try:
            value = json.loads(text)
            version, sections = value["schema_version"], [_section(each) for each in value["sections"]]
            counts = int(value["token_estimate"]), int(value["iteration"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise BadInput("an anchored summary has to be JSON in the form that `to_json` writes") from None
        known = cls.SCHEMA_VERSION
        if version != known:
            raise BadInput(f"an anchored summary of schema version {version}; this release reads version {known}")
        return cls(tuple(sections), known, *counts)


def _section(value: Mapping[str, Any]) -> AnchoredSummarySection:
    id_ = str(value["id"])
    return AnchoredSummarySection(id_, str(value.get("label") or label_of(id_)), str(value["content"]))


def label_of(id_: str) -> str:
    """Return the label of a section; that of a foreign id `open_questions` is "Open questions"."""
    name = " ".join(id_.replace("_", " ").split())
    return LABELS.get(id_) or name[:1].upper() + name[1:]


def _arranged(sections: Sequence[AnchoredSummarySection]) -> tuple[AnchoredSummarySection, ...]:
    """Return the five sections in their order, blank where missing, and then the others."""
    labels = {**LABELS, **{one.id: one.label for one in reversed(sections) if one.id not in LABELS}}
    ids = (*LABELS, *(one.id for one in sections if one.id not in LABELS))
    contents = {id_: _joined(one.content for one in sections if one.id == id_) for id_ in ids}
    return tuple(AnchoredSummarySection(id_, labels[id_], content) for id_, content in contents.items())


def _joined(contents: Iterable[str]) -> str:
    return "\n".join(content for content in contents if content.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnchoredSummary:
    """An agent's anchored summary of a session, replaced each time it compacts or ends.

    It covers the first `entries` of the transcript, which have `bytes` bytes and the hash `digest`. A model has seen
    the first `seen_by_model` of them, and is shown the others next time; `made_do` says why not. It was made for the
    event `event_id`. `at` is the time of the last entry, or else of that event.
    """

    scope: Scope
    agent_id: str
    session_id: str
    summary: AnchoredSummary
    digest: str
    entries: int
    bytes: int
    event_id: UUID
    at: datetime
    tier: Tier
    model: str | None = None
    prompt_version: str | None = None
    tokens: Tokens | None = None
    made_do: str | None = None
    seen_by_model: int = 0
