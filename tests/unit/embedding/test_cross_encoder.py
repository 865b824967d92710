"""A scorer of pairs: the loader's errors, and what takes its word."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from uuid import UUID

import numpy as np
import pytest

from nous.app.from_settings import policy
from nous.domain.errors import Misconfigured
from nous.domain.fact import LinkKind
from nous.embedding.cross_encoder import CrossEncoder
from nous.knowledge.judge import judge
from nous.knowledge.statement import Neighbour, Statement
from nous.knowledge.verdict import AlreadyKnown, LinkedTo, PairScorer, Policy
from nous.settings.model import Settings

NEW, OLD = "Nina eats neither meat nor fish nor anything from animals", "Nina is a vegan"


class Always(NamedTuple):
    """A scorer that gives every pair one score."""

    probability: float

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        return [self.probability for _ in pairs]


class Session:
    """A model whose outputs are *logits*, whatever it is given."""

    def __init__(self, *logits: float) -> None:
        self.logits = logits

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name="input_ids"), SimpleNamespace(name="attention_mask")]

    def run(self, _: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        assert set(inputs) == {"input_ids", "attention_mask"}
        return [np.array([self.logits])]


class Tokenizer:
    def encode(self, one: str, other: str) -> SimpleNamespace:
        ids = [len(one), len(other)]
        return SimpleNamespace(ids=ids, attention_mask=[1, 1], type_ids=[0, 1])


def scorer(*logits: float) -> CrossEncoder:
    found = CrossEncoder(Path("nowhere"))
    found.__dict__["_model"] = (Tokenizer(), Session(*logits))
    return found


@pytest.mark.parametrize(("logits", "score"), [((0.0,), 0.5), ((0.0, 0.0), 0.5), ((-50.0,), 0.0), ((0.0, 50.0), 1.0)])
def test_a_score_is_the_probability_of_the_same(logits: tuple[float, ...], score: float) -> None:
    assert scorer(*logits).score([("a", "b"), ("b", "a")]) == pytest.approx([score, score])


def test_a_model_with_other_outputs_is_refused() -> None:
    with pytest.raises(Misconfigured, match="3 outputs"):
        scorer(0.0, 0.0, 0.0).score([("a", "b")])


def test_a_scorer_that_is_set_is_loaded_when_it_is_asked(tmp_path: Path) -> None:
    found: PairScorer | None = policy(Settings.model_validate({"dedup": {"scorer": str(tmp_path)}})).scorer

    assert isinstance(found, CrossEncoder)
    with pytest.raises(Misconfigured, match=str(tmp_path)):
        found.score([("a", "b")])
    assert policy(Settings()).scorer is None


def test_the_score_takes_the_place_of_the_likelihood() -> None:
    known = Neighbour(fact_id=UUID(int=1), statement=Statement(OLD), similarity=0.7)

    verdict = judge(Statement(NEW), [known], Policy(one_sided=0.95, scorer=Always(0.8)))

    assert isinstance(verdict, LinkedTo)
    assert (verdict.name, verdict.kind, verdict.likelihood) == ("duplicate", LinkKind.DUPLICATE, 0.8)
    assert verdict.is_open


def test_no_score_merges_what_a_detail_tells_apart() -> None:
    one = "The ingest worker of the billing service retries a failed upload three times before it gives up"
    other = "Failed uploads are retried by the ingest worker of the billing service, five times before it gives up"
    known = Neighbour(fact_id=UUID(int=1), statement=Statement(other), similarity=0.9)
    sure = Policy(one_sided=0.95, scorer=Always(1.0))

    assert not isinstance(judge(Statement(one), [known], sure), AlreadyKnown)
