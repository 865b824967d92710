"""Define JSON schemas for a model's session summary and facts; parse its answers leniently.

The JSON schema of `EpisodeAnswer` is strict, its parsing is lenient. Values of the wrong type are coerced; a text is
never split into its characters. What no repair can fix becomes a complaint that can be sent to the model.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.json_schema import GenerateJsonSchema

from nous.domain.episode import CandidateFact, Category, Lesson, Outcome, Quote, Summary
from nous.domain.errors import BadInput
from nous.summary.llm.json_recovery import object_in, prose_in, summary_in
from nous.summary.llm.vetting import UNTITLED
from nous.text.sentences import sentences, shortened

LONGEST_TITLE, LONGEST_SUMMARY, LONGEST_POINT, LONGEST_FACT, LONGEST_QUOTE = 200, 4_000, 600, 1_000, 300
_LONGEST_SUBJECT, _LONGEST_OUTCOME = 200, 40
_MOST_FACTS, _MOST_QUOTES = 200, 10  # of an answer, and of a fact

LIKELY = 0.8  # the confidence of a fact that states none
_UNSAFE = re.compile(r"[\x00\ud800-\udfff]")
_BULLET = re.compile(r"^\s*(?:[-*\u2022\u2023\u2013]|\d{1,3}[.)])\s+")
_LINES = re.compile(r"[\r\n\u2022]+")
_SAYING = (
    "text",
    "quote",
    "fact",
    "point",
    "lesson",
    "topic",
    "thread",
    "content",
    "statement",
    "description",
    "value",
    "name",
)
"""Keys that may hold the text of an object where a text was asked for."""

_OUTCOMES: Mapping[Outcome, str] = {
    Outcome.RESOLVED: "resolved success successful succeeded completed complete done fixed solved finished",
    Outcome.PARTIAL: "partial partially partially|resolved partially|completed partly ongoing in|progress mixed",
    Outcome.UNRESOLVED: "unresolved not|resolved failed failure blocked unsuccessful abandoned unsolved not|done",
    Outcome.INFORMATIONAL: "informational information informative info answered",
}
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
_LEAST_PERCENT = 10
_TURN = re.compile(r"(?<![\d.])\d{1,6}(?!\d)")
_CITED = re.compile(r"\s*[(\[]turns? ([\d, ]+|\d+(?: and \d+)+)[)\]]\.?\Z", re.IGNORECASE)
_PART_OF_DATE = re.compile(r"(?!0000)[0-9]{4}(?:-(?:0[1-9]|1[0-2]))?\Z")

_NOTHING = frozenset({"none", "n/a"})  # texts by which models fill a field that has no content


def text_of(value: object) -> str:
    """Return *value* as a text; empty if it has none."""
    match value:
        case None:
            return ""
        case str():
            text = _UNSAFE.sub("", value).strip()
            return "" if text.casefold().rstrip(".") in _NOTHING else text
        case list():
            return " ".join(filter(None, map(text_of, cast("list[object]", value))))
        case dict():
            fields = cast("dict[str, object]", value)
            named = next(filter(None, (text_of(fields.get(name)) for name in _SAYING)), "")
            return named or text_of(list(fields.values()))
        case _:
            return str(value)


def items_of(value: object) -> Sequence[object]:
    """Return *value* as a list: a text's lines, an object's values, or else the value alone."""
    match value:
        case list():
            return cast("list[object]", value)
        case None:
            return ()
        case str():
            return _items_in(value)
        case dict():
            fields = cast("dict[str, object]", value)
            return [fields] if any(name in fields for name in _SAYING) else list(fields.values())
        case _:
            return [value]


def _items_in(text: str) -> Sequence[object]:
    """Return the lines of *text*, or the items of the JSON that some models write into a text."""
    if text.lstrip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            found = json.loads(f"[{text}]")
            return items_of(found[0]) if len(found) == 1 else found
    return [line for each in _LINES.split(text) if (line := _BULLET.sub("", each).strip())]


def outcome_of(value: object) -> Outcome | None:
    """Return the outcome that *value* means, in any spelling or by a synonym; None if unclear."""
    plain = "|".join(re.findall(r"[a-z]+", text_of(value).casefold().removeprefix("outcome.")))
    return next((outcome for outcome, names in _OUTCOMES.items() if plain in names.split()), None)


def category_of(value: object) -> Category:
    name = text_of(value).casefold().strip(" .`\"'")
    return next((known for known in Category if name in {known.value, f"{known.value}s"}), Category.TECHNICAL)


def confidence_of(value: object) -> float:
    """Return *value* as a number between 0 and 1; from 10 on it is taken for a percentage."""
    found = _NUMBER.search(text_of(value))
    number = float(found[0]) if found else LIKELY
    return min(1.0, max(0.0, number / 100 if number >= _LEAST_PERCENT else number))


def turns_of(value: object) -> list[int]:
    numbers = (number for item in items_of(value) for number in _TURN.findall(text_of(item)))
    return sorted({int(number) for number in numbers} - {0})


def quotes_of(value: object, turns: Sequence[int]) -> list[dict[str, Any]]:
    """Return the quotes in *value* by turn, blank ones for *turns* without one.

    Texts that name no turn are of *turns*, in order.
    """
    found: list[dict[str, Any]] = []
    for at, item in enumerate(items_of(value)):
        fields = _named(item) if isinstance(item, dict) else {"quote": item}
        text = shortened(text_of({name: each for name, each in fields.items() if name != "turn"}), LONGEST_QUOTE)
        stated = turns_of(fields.get("turn")) or list(turns[at : at + 1] or turns[-1:]) or [0]
        found += [{"turn": stated[0], "quote": text}] if text else []
    quoted = {each["turn"] for each in found}
    return found[:_MOST_QUOTES] + [{"turn": turn, "quote": ""} for turn in turns if turn not in quoted]


def date_of(value: object) -> str | None:
    text = text_of(value)
    return text if is_date(text) else None


def is_date(text: str) -> bool:
    """Return whether *text* is a date in ISO 8601, or the year or month of one."""
    if _PART_OF_DATE.match(text):
        return True
    for read in (date.fromisoformat, datetime.fromisoformat):
        with suppress(ValueError):
            read(text)
            return True
    return False


class ModelSummary(NamedTuple):
    """A model's summary and facts; without `has_facts`, its answer had no list, not even empty."""

    summary: Summary
    facts: tuple[CandidateFact, ...]
    has_facts: bool = True


def _text(longest: int) -> BeforeValidator:
    return BeforeValidator(lambda value: shortened(text_of(value), longest))


def _texts(longest: int) -> BeforeValidator:
    return BeforeValidator(
        lambda value: [shortened(text, longest) for each in items_of(value) if (text := text_of(each))]
    )


def _points(value: Any) -> list[str]:
    """Return the key points in *value*; the turns of an object follow its text, as asked for."""
    points: list[str] = []
    for each in items_of(value):
        turns = turns_of(_named(each).get("turns")) if isinstance(each, dict) else []
        if text := shortened(text_of(each), LONGEST_POINT):
            points.append(f"{text} (turns {', '.join(map(str, turns))})" if turns else text)
    return points


def _lesson(point: str) -> Lesson:
    cited = _CITED.search(point)
    return Lesson(point[: cited.start()] if cited else point, tuple(turns_of(cited[1])) if cited else ())


def _facts(value: Any) -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = []
    for item in items_of(value)[:_MOST_FACTS]:
        fields = _named(item) if isinstance(item, dict) else {}
        if text := text_of(fields.get("text") or item):
            turns = turns_of(fields.get("turns"))
            quotes = quotes_of(fields.get("quotes") or fields.get("quote"), turns)
            facts.append({**fields, "text": text, "quotes": quotes})
    return facts


def _outcome(value: Any) -> str:
    return outcome_of(value) or shortened(text_of(value), _LONGEST_OUTCOME)


class _Lenient(BaseModel):
    """Model whose fields are all required in the schema, but optional when parsed."""

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        fields = _named(value)
        return {name: fields.get(_bare(name)) for name in cls.model_fields}


def _named(value: object) -> dict[str, Any]:
    """Return the fields of an object by their bare names; of two spellings, the first counts."""
    fields = cast("dict[str, Any]", value)
    return {_bare(name): fields[name] for name in reversed(fields)}


def _bare(name: str) -> str:
    """Return what spellings of a key have in common: `keyPoints`, `Key_Points`, `key points`."""
    return "".join(character for character in name.casefold() if character.isalnum())


class QuoteAnswer(_Lenient):
    """Words of a turn that show a fact."""

    turn: int = Field(description="The number of the turn.")
    quote: str = Field(description="At most 15 words, copied from it without a change.")


class FactAnswer(_Lenient):
    """One statement that stays true and useful after the session."""

    quotes: list[QuoteAnswer] = Field(description="One for each turn that says it.")
    text: Annotated[str, _text(LONGEST_FACT)] = Field(description="One sentence that can be understood alone.")
    category: Annotated[str, BeforeValidator(category_of)] = Field(
        description="rule: only what the user asked for.", json_schema_extra={"enum": [each.value for each in Category]}
    )
    subject: Annotated[str, _text(_LONGEST_SUBJECT)] = Field(description="Who or what it is about, in a few words.")
    confidence: Annotated[float, BeforeValidator(confidence_of)] = Field(description="From 0 to 1.")
    event_date: Annotated[str | None, BeforeValidator(date_of)] = Field(
        description="ISO 8601, of something that happened on a day; otherwise null."
    )


class EpisodeAnswer(_Lenient):
    """A session in a few words, and what it taught."""

    title: Annotated[str, _text(LONGEST_TITLE)] = Field(description="5 to 10 words.")
    summary: Annotated[str, _text(LONGEST_SUMMARY)] = Field(description="100 to 150 words.")
    key_points: Annotated[list[str], BeforeValidator(_points)] = Field(
        description="Lessons, not events; each ends with its turns, as in (turns 2, 5)."
    )
    outcome_rationale: Annotated[str, _text(LONGEST_POINT)] = Field(description="One sentence.")
    outcome: Annotated[str, BeforeValidator(_outcome)] = Field(
        description="How it ended for the user.", json_schema_extra={"enum": [each.value for each in Outcome]}
    )
    topics: Annotated[list[str], _texts(LONGEST_TITLE)] = Field(description="A few words each.")
    open_threads: Annotated[list[str], _texts(LONGEST_POINT)] = Field(description="What was left to do.")
    candidate_facts: Annotated[list[FactAnswer], BeforeValidator(_facts)] = Field(description="What is worth keeping.")


class FactsAnswer(_Lenient):
    """The facts that a session taught, and nothing else."""

    candidate_facts: Annotated[list[FactAnswer], BeforeValidator(_facts)] = Field(description="What is worth keeping.")


class _Untitled(GenerateJsonSchema):
    """Schema generator without field titles, which only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the signature is pydantic's
        return False


def schema() -> dict[str, Any]:
    return EpisodeAnswer.model_json_schema(schema_generator=_Untitled)


def facts_schema() -> dict[str, Any]:
    return FactsAnswer.model_json_schema(schema_generator=_Untitled)


_NO_LIST = 'The answer has no "candidate_facts"; write the list, empty if there is nothing to keep.'


def read(text: str, *, is_whole: bool = True, coerce: bool = False) -> ModelSummary:
    """Parse the summary and the facts of an answer.

    *is_whole* is false if the answer was cut off at its limit. With *coerce*, an outcome that cannot be understood
    counts as partial, and its rationale says so. Raises `BadInput` if it cannot be used; the message says why and can
    be sent to the model.
    """
    found = _object_in(text, is_whole=is_whole)
    answer = EpisodeAnswer.model_validate(found)
    has_facts = "candidatefacts" in map(_bare, found)
    outcome = Outcome(answer.outcome) if answer.outcome in set(Outcome) else None
    rationale = answer.outcome_rationale
    if outcome is None and coerce:
        outcome = Outcome.PARTIAL
        rationale = f"{rationale} (The model named no outcome that is known, so it is taken for partial.)".strip()
    problems = [f"The {name} is missing or blank." for name in ("title", "summary") if not getattr(answer, name)]
    if outcome is None:
        problems.append(f"The outcome has to be one of {', '.join(Outcome)}.")
    if not has_facts and not coerce:
        problems.append(_NO_LIST)
    if outcome is None or problems:
        raise BadInput(" ".join(problems))
    summary = Summary(
        title=" ".join(answer.title.split()),
        summary=answer.summary,
        key_points=(),
        outcome=outcome,
        outcome_rationale=rationale,
        topics=tuple(answer.topics),
        open_threads=tuple(answer.open_threads),
    )
    summary = summary.teaching(map(_lesson, answer.key_points))
    return ModelSummary(summary, tuple(map(_fact, answer.candidate_facts)), has_facts)


def read_facts(text: str, *, is_whole: bool = True, coerce: bool = False) -> tuple[CandidateFact, ...]:
    """Parse an answer to `facts_schema`. Raises `BadInput` as `read`, or if the list is missing."""
    del coerce  # facts are always parsed leniently
    found = _object_in(text, is_whole=is_whole)
    if "candidate_facts" not in found:
        raise BadInput(_NO_LIST)
    return tuple(map(_fact, FactsAnswer.model_validate(found).candidate_facts))


def _object_in(text: str, *, is_whole: bool) -> dict[str, Any]:
    """Return the JSON object of an answer, perhaps within tags, or prose in tags as its summary.

    Tags in strings of the JSON are content.
    """
    bare = text_of(text)
    tag, brace = bare.find("<"), bare.find("{")
    try:
        return object_in(summary_in(bare) if 0 <= tag < brace else bare)
    except BadInput:
        if prose := prose_in(bare):
            return {"title": UNTITLED, "summary": prose}
        if not bare.strip():
            raise BadInput("There was no answer, or none that ends; write the whole JSON object, briefly.") from None
        if is_whole:
            raise
        raise BadInput("The answer was cut off at its limit; write the whole JSON object, more briefly.") from None


def _fact(answer: FactAnswer) -> CandidateFact:
    return CandidateFact(
        text=answer.text,
        category=Category(answer.category),
        subject=answer.subject,
        confidence=answer.confidence,
        turns=tuple(sorted({each.turn for each in answer.quotes} - {0})),
        event_date=answer.event_date,
        quotes=tuple(Quote(each.turn, each.quote) for each in answer.quotes if each.quote),
    )


TITLE, SUMMARY = (5, 10), (100, 150)  # the fewest and the most words


def off_size(summary: Summary) -> Iterator[str]:
    """Yield the parts that are not of the requested size; a summary may be shorter."""
    fewest, most = TITLE
    if not fewest <= len(summary.title.split()) <= most:
        yield "title"
    if len(summary.summary.split()) > SUMMARY[1]:
        yield "summary"
    if len(list(sentences(summary.outcome_rationale))) != 1:
        yield "rationale"
