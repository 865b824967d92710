"""Ask an LLM how new facts stand to the known ones that they may repeat or replace."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib.resources import files
from typing import Any, cast
from uuid import UUID

import structlog

from nous.domain.errors import BadInput, NousError
from nous.domain.fact import Fact, Source
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import Segment
from nous.knowledge.verdict import Adjudication, Relation, Rulings, UncertainFact
from nous.llm.base import Model, Question
from nous.llm.state import UsageCounters
from nous.llm.structured_output import ask
from nous.summary.llm.json_recovery import object_in, summary_in
from nous.summary.llm.prompt import PromptTemplate, fenced
from nous.summary.llm.response import text_of

MOST_SENT = 24_000
"""The most characters of facts in a question; the nearest pairs come first."""

LONGEST_REASON = 200
_Pairs = Mapping[tuple[str, str], tuple[UUID, UUID, bool]]
"""The ids of two facts, and whether the pair has to be explained, by their numbers in the question."""

_SCHEMA: Mapping[str, Any] = json.loads((files("nous.summary.llm") / "prompts" / "ruling.json").read_text("utf-8"))

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmAdjudicator:
    """`Adjudicator` that asks a model once about all uncertain facts of an episode."""

    model: Model
    prompt: PromptTemplate
    counters: UsageCounters

    def adjudicate(self, facts: Sequence[UncertainFact], *, matter: CacheSubject) -> Rulings:
        """Return a ruling on each pair that is sent; one that the answer leaves out is different.

        A pair that has to be explained and is not has no ruling.
        """
        block, pairs = _sheet(facts)
        if not pairs:
            return {}
        question = Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(project=json.dumps(matter.scope.project), pairs=block),
            name="ruling",
            schema=_SCHEMA,
            most_tokens=self.prompt.most_tokens,
        )
        read = partial(_read, pairs=pairs, by=f"{self.model.id} with {self.prompt.version}")
        try:
            return ask(self.model, question, read, counters=self.counters).value
        except NousError as error:
            log.warning("adjudication.failed", model=self.model.id, pairs=len(pairs), reason=str(error))
            return {}


def _sheet(facts: Sequence[UncertainFact]) -> tuple[str, _Pairs]:
    """Return the facts of the nearest pairs that fit, each once on either side, and these pairs."""
    lines: dict[tuple[str, UUID], dict[str, Any]] = {}
    pairs: dict[tuple[str, str], tuple[UUID, UUID, bool]] = {}
    room, left_out = MOST_SENT, 0
    found = ((cosine, fact, known, linked) for fact, others, linked in facts for known, cosine in others)
    for _, fact, known, linked in sorted(found, key=lambda pair: -pair[0]):
        ends = {
            ("new", fact.id): _line(fact, fact.source, fact.source.said_at or fact.learned_at),
            ("known", known.fact.id): _line(known.fact, known.latest, known.said_at),
        }
        added = {end: line for end, line in ends.items() if end not in lines}
        size = sum(len(json.dumps(line, ensure_ascii=False)) for line in added.values())
        if size > room:
            left_out += 1
            continue
        room -= size
        for (side, fact_id), line in added.items():
            lines[side, fact_id] = {side: 1 + sum(each == side for each, _ in lines), **line}
        new, other = (lines[end] for end in ends)
        new.setdefault("compare", []).append(other["known"])
        new |= {"explain": other["known"]} if linked == known.fact.id else {}
        pairs[str(new["new"]), str(other["known"])] = fact.id, known.fact.id, linked == known.fact.id
    if left_out:
        log.info("adjudication.shortened", pairs=len(pairs), left_out=left_out)
    written = sorted(lines.items(), key=lambda line: line[0][0])  # known facts first
    block = "\n".join(json.dumps(line, ensure_ascii=False) for _, line in written)
    return fenced([Segment(block)], name="facts"), pairs


def _line(fact: Fact, source: Source, said_at: datetime) -> dict[str, Any]:
    said = {"said": f"{said_at:%Y-%m-%d}", "session": source.session_id}
    return {"text": fact.text, **({"subject": fact.subject} if fact.subject else {}), **said}


def _read(text: str, /, *, is_whole: bool, coerce: bool, pairs: _Pairs, by: str) -> Rulings:
    """Parse adjudications; a pair with two relations has none."""
    del is_whole, coerce  # truncated JSON does not close and fails to parse, and nothing is coerced
    entries = object_in(summary_in(text)).get("pairs")
    if not isinstance(entries, list):
        raise BadInput('The answer has no list "pairs"; write one, empty if all pairs are different.')
    found: dict[tuple[str, str], dict[str, Adjudication]] = {}
    for entry in cast("list[object]", entries):
        fields = cast("Mapping[str, object]", entry) if isinstance(entry, Mapping) else {}
        new, known, relation = (str(fields.get(name)).strip().casefold() for name in ("new", "known", "relation"))
        if relation in set(Relation):
            why = " ".join(text_of(fields.get("reason")).split())[:LONGEST_REASON]
            found.setdefault((new, known), {})[relation] = Adjudication(Relation(relation), by, why)
    rulings: dict[UUID, dict[UUID, Adjudication]] = {}
    for pair, (fact_id, known_id, is_asked) in pairs.items():
        stated = found.get(pair) or ({} if is_asked else {"": Adjudication(Relation.DIFFERENT, by)})
        if len(stated) == 1:
            rulings.setdefault(fact_id, {})[known_id] = next(iter(stated.values()))
    return rulings
