"""Pairs of statements that the texts alone leave open, put to a model."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import structlog

from nous.domain.errors import BadInput, NousError
from nous.domain.scope import Matter
from nous.domain.summary_input import Passage
from nous.facts.adjudication import Doubt, Relation, Ruling, Rulings
from nous.llm.base import Model, Question
from nous.llm.state import Tally
from nous.llm.structured_output import ask
from nous.summary.llm.json_recovery import object_in, summary_in
from nous.summary.llm.prompt import Prompt, fenced

MOST = 20
"""Pairs of one question."""

LONGEST = 1_000
"""Characters of a statement that is put to a model: what was cut could not be judged, and the question stays small."""

LONGEST_REASON = 200
"""Characters of what a model gives as its reason."""

_NUMBERS = {str(number): number for number in range(1, MOST + 1)}
_NAME = "ruling"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "pairs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pair": {"type": "integer", "description": "The number of the pair."},
                    "relation": {"type": "string", "enum": [each.value for each in Relation]},
                    "reason": {"type": "string", "description": "What decides it, in at most twenty words."},
                },
                "required": ["pair", "relation", "reason"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["pairs"],
    "additionalProperties": False,
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelArbiter:
    """An `Arbiter` that asks a model, once for all that is open. What it leaves open is kept twice, and linked."""

    model: Model
    prompt: Prompt
    tally: Tally

    @property
    def by(self) -> str:
        """Who rules: the model and the prompt."""
        return f"{self.model.id} with {self.prompt.version}"

    def rule(self, doubts: Sequence[Doubt], *, matter: Matter) -> Rulings:
        """How the first `MOST` of *doubts* stand, as far as the model says; nothing where it fails. See `Arbiter`."""
        pairs = _pairs(doubts)
        if not pairs:
            return {}
        question = Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(pairs=_told(pairs)),
            name=_NAME,
            schema=_SCHEMA,
            most_tokens=self.prompt.most_tokens,
        )
        try:
            rulings = ask(self.model, question, partial(_read, by=self.by), tally=self.tally).value
        except NousError as error:
            log.warning("nobody ruled on what is open", model=self.model.id, pairs=len(pairs), reason=str(error))
            return {}
        numbered = enumerate(pairs, start=1)
        return {(doubt.form, doubt.fact_id): rulings[number] for number, doubt in numbered if number in rulings}


def _pairs(doubts: Sequence[Doubt]) -> Sequence[Doubt]:
    """Those that are put to the model, each once."""
    each = {(doubt.form, doubt.fact_id): doubt for doubt in doubts}
    return [doubt for doubt in each.values() if max(len(doubt.said), len(doubt.known)) <= LONGEST][:MOST]


def _told(pairs: Sequence[Doubt]) -> str:
    """*pairs* as data, one on each line, which no text of theirs can end."""
    lines = (
        json.dumps({"pair": number, "new": _whole(pair.said), "known": _whole(pair.known)}, ensure_ascii=False)
        for number, pair in enumerate(pairs, start=1)
    )
    return fenced([Passage("\n".join(lines))], name="pairs")


def _whole(text: str) -> str:
    """*text*, in which half of a surrogate pair, that nobody can send, becomes a question mark."""
    return text.encode(errors="replace").decode()


def _read(text: str, /, *, is_whole: bool, coerce: bool, by: str) -> Mapping[int, Ruling]:
    """The rulings of an answer, by the number of the pair; of a pair that has two relations, none counts."""
    del is_whole, coerce  # what is not whole does not close, and nothing is coerced
    pairs = object_in(summary_in(text)).get("pairs")
    if not isinstance(pairs, list):
        raise BadInput('The answer has no list "pairs"; write one entry for each pair.')
    found = list(_rulings(cast("list[object]", pairs), by))
    numbers = [number for number, _ in {(number, ruling.relation) for number, ruling in found}]
    return {number: ruling for number, ruling in found if numbers.count(number) == 1}


def _rulings(entries: Sequence[object], by: str) -> Iterator[tuple[int, Ruling]]:
    """What of *entries* says how a pair stands."""
    for entry in entries:
        fields = cast("Mapping[str, object]", entry) if isinstance(entry, Mapping) else {}
        number, relation = str(fields.get("pair")).strip(), str(fields.get("relation")).strip().casefold()
        if number in _NUMBERS and relation in set(Relation):
            why = " ".join(str(fields.get("reason") or "").split())[:LONGEST_REASON]
            yield _NUMBERS[number], Ruling(Relation(relation), by, why)
