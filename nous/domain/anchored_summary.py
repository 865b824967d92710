"""What is carried of a session across compactions and resumes: five sections, each replaced as the work goes on."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar, cast
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
"""The sections that every summary has, by id, in their order."""

VERSION = 1


@dataclass(frozen=True, slots=True)
class AnchoredSummarySection:
    """One section. Its content is Markdown, by custom one bullet a line; blank if there is nothing to say."""

    id: str
    label: str
    content: str = ""


@dataclass(frozen=True, slots=True)
class AnchoredSummary:
    """What a session is about and where it stands, for whoever takes it up again.

    The five sections are always there, in their order and under their own labels; sections of other ids stay behind
    them. Two sections of one id are one. `iteration` counts how often it was made anew. A `token_estimate` of 0 is
    measured.
    """

    SCHEMA_VERSION: ClassVar[int] = VERSION

    sections: tuple[AnchoredSummarySection, ...] = ()
    schema_version: int = VERSION
    token_estimate: int = 0
    iteration: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", _arranged(self.sections))
        if not self.token_estimate:
            object.__setattr__(self, "token_estimate", estimate(self.to_prompt_text()))

    @classmethod
    def empty(cls) -> "AnchoredSummary":
        """What there is before anything was said."""
        return cls()

    @classmethod
    def of(cls, contents: Mapping[str, str], *, iteration: int = 0) -> "AnchoredSummary":
        """A summary with *contents* by section id; an id that is none of the five names its own section."""
        sections = (AnchoredSummarySection(id_, label_of(id_), text) for id_, text in contents.items())
        return cls(tuple(sections), iteration=iteration)

    @property
    def is_empty(self) -> bool:
        """Whether no section says anything."""
        return not any(section.content.strip() for section in self.sections)

    def section(self, id_: str) -> AnchoredSummarySection | None:
        """The section that goes by *id_*."""
        return next((section for section in self.sections if section.id == id_), None)

    def content(self, id_: str) -> str:
        """What the section *id_* says; "" if there is none."""
        section = self.section(id_)
        return section.content if section else ""

    def to_prompt_text(self) -> str:
        """As a model reads it: each section that says something under its label, a blank line between two."""
        said = [(section.label, section.content.strip()) for section in self.sections]
        return "\n\n".join(f"## {label}\n{content}" for label, content in said if content)

    def to_json(self) -> str:
        """As it is kept. ASCII, so that whatever a section holds can be stored."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> "AnchoredSummary":
        """Read what `to_json` wrote. Fields that this release does not know are passed over.

        Raises:
            BadInput: it is none, or its schema version is not the one of this release.
        """
        value = _json_object(text)
        version = _count(value, "schema_version")
        if version != VERSION:
            raise BadInput(f"an anchored summary of schema version {version}; this release reads version {VERSION}")
        sections = value.get("sections")
        if not isinstance(sections, list):
            raise BadInput("the sections of an anchored summary have to be a list")
        read = tuple(_section(each, place) for place, each in enumerate(cast("list[object]", sections), start=1))
        return cls(read, VERSION, _count(value, "token_estimate"), _count(value, "iteration"))


def label_of(id_: str) -> str:
    """The label of one of the five sections, or one made of a foreign id: `open_questions` is "Open questions"."""
    name = " ".join(id_.replace("_", " ").split())
    return LABELS.get(id_) or name[:1].upper() + name[1:]


def _arranged(sections: Sequence[AnchoredSummarySection]) -> tuple[AnchoredSummarySection, ...]:
    """The five in their order, blank where they are missing, and then the others in theirs."""
    labels = {**LABELS, **{one.id: one.label for one in reversed(sections) if one.id not in LABELS}}
    ids = (*LABELS, *(one.id for one in sections if one.id not in LABELS))
    contents = {id_: _joined(one.content for one in sections if one.id == id_) for id_ in ids}
    return tuple(AnchoredSummarySection(id_, labels[id_], content) for id_, content in contents.items())


def _joined(contents: Iterable[str]) -> str:
    return "\n".join(content for content in contents if content.strip())


def _json_object(text: str | bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("an anchored summary has to be JSON, and this is none") from None
    if not isinstance(value, dict):
        raise BadInput(f"an anchored summary has to be a JSON object, not {type(value).__name__}")
    return cast("dict[str, Any]", value)


def _section(value: object, place: int) -> AnchoredSummarySection:
    section = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    id_, content = section.get("id"), section.get("content", "")
    if not isinstance(id_, str) or not id_.strip() or not isinstance(content, str):
        raise BadInput(f"section {place} of an anchored summary has to be an object with an id and a content in text")
    label = section.get("label")
    return AnchoredSummarySection(id_, label if isinstance(label, str) and label else label_of(id_), content)


def _count(value: Mapping[str, Any], name: str) -> int:
    number = value.get(name, 0)
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise BadInput(f"the {name} of an anchored summary has to be a whole number from 0 on")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An agent's anchored summary of a session: one, replaced each time that the session compacts or ends.

    The first `entries` of the transcript, `bytes` long and of that `digest`, are in it. Of those a model has seen the
    first `seen_by_model`; the others are shown to it next time, since `made_do` says why it could not see them.
    `put_back` counts the lines of the one before that a model had left out. `event_id` is what it was made for, and
    `at` when the last of it was said, or, where the transcript tells no times, when that was published.
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
    put_back: int = 0
