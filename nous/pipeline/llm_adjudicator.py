"""Ask an LLM how the two facts of each ambiguous pair relate, and return its rulings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, cast

import structlog

from nous.domain.errors import BadInput, NousError
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import Segment
from nous.knowledge.verdict import Adjudication, AmbiguousPair, Relation, Rulings
from nous.llm.base import Model, Question
from nous.llm.state import UsageCounters
from nous.llm.structured_output import ask
from nous.summary.llm.json_recovery import object_in, summary_in
from nous.summary.llm.prompt import PromptTemplate, fenced

MOST = 20
LONGEST = 1_000
"""The most characters of a statement that is sent: a cut one could not be judged, and the question stays small."""

LONGEST_REASON = 200
_NUMBERS = {str(number): number for number in range(1, MOST + 1)}
_NAME = "ruling"
_SCHEMA: Mapping[str, Any] = json.loads((files("nous.summary.llm") / "prompts" / "ruling.json").read_text("utf-8"))

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmAdjudicator:
    """`Adjudicator` that asks a model once about all open pairs; those left open stay linked."""

    model: Model
    prompt: PromptTemplate
    counters: UsageCounters

    def adjudicate(self, doubts: Sequence[AmbiguousPair], *, matter: CacheSubject) -> Rulings:
        """Return adjudications for the first `MOST` of *doubts*, without unclear ones."""
        pairs = _pairs(doubts)
        if not pairs:
            return {}
        by = f"{self.model.id} with {self.prompt.version}"
        question = Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(pairs=_pairs_block(pairs)),
            name=_NAME,
            schema=_SCHEMA,
            most_tokens=self.prompt.most_tokens,
        )
        try:
            adjudications = ask(self.model, question, partial(_read, by=by), counters=self.counters).value
        except NousError as error:
            log.warning("adjudication.failed", model=self.model.id, pairs=len(pairs), reason=str(error))
            return {}
        numbered = enumerate(pairs, start=1)
        return {
            (doubt.form, doubt.fact_id): adjudications[number] for number, doubt in numbered if number in adjudications
        }


def _pairs(doubts: Sequence[AmbiguousPair]) -> Sequence[AmbiguousPair]:
    each = {(doubt.form, doubt.fact_id): doubt for doubt in doubts}
    return [doubt for doubt in each.values() if max(len(doubt.said), len(doubt.known)) <= LONGEST][:MOST]


def _pairs_block(pairs: Sequence[AmbiguousPair]) -> str:
    lines = (
        json.dumps({"pair": number, "new": pair.said, "known": pair.known}, ensure_ascii=False)
        for number, pair in enumerate(pairs, start=1)
    )
    return fenced([Segment("\n".join(lines))], name="pairs")


def _read(text: str, /, *, is_whole: bool, coerce: bool, by: str) -> Mapping[int, Adjudication]:
    """Parse adjudications by pair number; a pair with two relations has none."""
    del is_whole, coerce  # truncated JSON does not close and fails to parse, and nothing is coerced
    pairs = object_in(summary_in(text)).get("pairs")
    if not isinstance(pairs, list):
        raise BadInput('The answer has no list "pairs"; write one entry for each pair.')
    found = list(_adjudications(cast("list[object]", pairs), by))
    numbers = [number for number, _ in {(number, adjudication.relation) for number, adjudication in found}]
    return {number: adjudication for number, adjudication in found if numbers.count(number) == 1}


def _adjudications(entries: Sequence[object], by: str) -> Iterator[tuple[int, Adjudication]]:
    for entry in entries:
        fields = cast("Mapping[str, object]", entry) if isinstance(entry, Mapping) else {}
        number, relation = str(fields.get("pair")).strip(), str(fields.get("relation")).strip().casefold()
        if number in _NUMBERS and relation in set(Relation):
            why = " ".join(str(fields.get("reason") or "").split())[:LONGEST_REASON]
            yield _NUMBERS[number], Adjudication(Relation(relation), by, why)
