"""Which mutated facts are kept: how well a model's facts are held to their quotes.

    python tests/benchmarks/grounding.py [--gold FILE.jsonl] [--quotes FILE.jsonl] [--data DIR] [--show MUTATION]

The facts are those that careful readers wrote down of real sessions, with the quotes that a model would give. Mutations
by fixed rules keep the true quotes, or take the nearest words of the cited turns. Beside each share stands that of the
weakest rule, which keeps a fact if its quote stands in the session.
"""

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from common.measure import DATA

from nous.app.quality.gold import Gold, GoldQuotes, GoldSession, rows_in
from nous.app.quality.run import quoted_facts, whole
from nous.domain.episode import CandidateFact, Quote
from nous.summary.llm.evidence import has_quote, supported
from nous.summary.llm.source_index import CitedStatement, SourceIndex, SourceTurn

HERE = Path(__file__).parent
INVENTED = HERE / "data" / "invented.txt"
QUOTES = HERE.parent / "gold" / "gold" / "quotes.jsonl"
MOST_WORDS, STEP = 15, 5
LIMITS = {
    "true": ">= .90",
    "negated": "<= .25",
    "antonym": "<= .25",
    "number swapped": "<= .20",
    "name swapped": "<= .20",
    "another session's": "<= .10",
    "invented": "<= .05",
}

_NEGATED = re.compile(
    r"\b(?P<verb>is|are|was|were|has|have|can|could|will|would|should|must|does|do|did|may) not\b|n't\b"
    r"|\b(?:not|never|no longer|without)\b"
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|can|could|will|would|should|must|does|do|did|may)\b")
_AFFIRMED = {"never": "always", "no longer": "still", "without": "with"}
_PAIRS = """enabled/disabled enable/disable passes/fails passed/failed pass/fail adds/removes added/removed add/remove
before/after always/never allows/forbids allowed/forbidden more/less first/last starts/stops started/stopped
with/without open/closed true/false local/remote reads/writes required/optional increases/decreases old/new
success/failure accepts/rejects accepted/rejected wants/refuses prefers/avoids keeps/deletes kept/deleted
includes/excludes only/also uses/avoids needs/forbids approved/rejected works/fails"""
_OPPOSITES = {
    word: other for pair in _PAIRS.split() for one, two in [pair.split("/")] for word, other in ((one, two), (two, one))
}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)")
_NAME = re.compile(
    r"`[^`\n]{2,40}`|\b[\w-]+(?:[._/]\w[\w-]*)+(?:\(\))?|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w*"
    r"|(?<=[a-z,] )[A-Z][a-z]{2,}\b"
)


class Mutant(NamedTuple):
    mutation: str
    fact: CandidateFact
    session: SourceIndex


@dataclass(frozen=True)
class Cited:
    """A true fact of a session, which has quotes in it."""

    file: str
    fact: CandidateFact
    session: SourceIndex

    @property
    def shown(self) -> str:
        return "\n".join(self.session.turns[turn].text for turn in self.fact.turns)

    def saying(self, text: str, quotes: Sequence[Quote] | None = None) -> CandidateFact:
        """*text* as a fact of the same turns, with *quotes*, or with their nearest words."""
        nearest = [Quote(turn, _nearest(text, self.session.turns[turn])) for turn in self.fact.turns]
        return CandidateFact(text=text, turns=self.fact.turns, quotes=tuple(nearest if quotes is None else quotes))


def main(chosen: Namespace) -> None:
    if not chosen.gold.exists():
        print(f"not measured: there is no {chosen.gold}")
        return
    facts = list(_facts(chosen))
    mutants = list(_mutants(facts, INVENTED.read_text("utf-8").splitlines(), Random(7)))
    print(f"{len(facts)} facts\n\n| mutation | n | kept | limit | kept by the quote alone |\n|---|--:|--:|--:|--:|")
    for mutation, limit in LIMITS.items():
        all_of = [each for each in mutants if each.mutation == mutation]
        kept = [each for each in all_of if isinstance(supported(each.fact, each.session), CandidateFact)]
        quoted = sum(has_quote(each.fact, each.session) for each in all_of)
        total = max(len(all_of), 1)
        print(f"| {mutation} | {total} | {len(kept) / total:.3f} | {limit} | {quoted / total:.3f} |")
        if mutation == chosen.show:
            _show(all_of)


def _show(mutants: Sequence[Mutant]) -> None:
    for _, fact, session in mutants:
        found = supported(fact, session)
        verdict = "kept" if isinstance(found, CandidateFact) else found
        print(f"{verdict} | {fact.text} | {[quote.text for quote in fact.quotes]}")


def _facts(chosen: Namespace) -> Iterator[Cited]:
    quotes = {(row.file, row.fact): row.quotes for row in rows_in(chosen.quotes, GoldQuotes)}
    gold = Gold(folder=chosen.data)
    for row in rows_in(chosen.gold, GoldSession):
        session = whole(gold.transcript(row.file))
        for fact in quoted_facts(row, quotes, session):
            yield Cited(row.file, fact, session)


def _mutants(facts: Sequence[Cited], invented: Sequence[str], random: Random) -> Iterator[Mutant]:
    for cited in facts:
        text, quotes = cited.fact.text, cited.fact.quotes
        strangers = [each for each in facts if each.file != cited.file and _kind(each) == _kind(cited)] or facts
        changed: Mapping[str, str | None] = {
            "true": text,
            "negated": negated(text),
            "antonym": opposite(text),
            "number swapped": _swapped(text, _NUMBER, cited.shown, random),
            "name swapped": _swapped(text, _NAME, cited.shown, random),
        }
        for mutation, new in changed.items():
            if new is not None:
                yield Mutant(mutation, cited.saying(new, quotes), cited.session)
        yield Mutant("another session's", cited.saying(random.choice(strangers).fact.text), cited.session)
        for made_up in random.sample(invented, 2):
            yield Mutant("invented", cited.saying(made_up), cited.session)


def _kind(cited: Cited) -> bool:
    return "openai_chat" in cited.file


def negated(text: str) -> str:
    """The opposite of *text*: its first negation removed, or else one added."""
    if found := _NEGATED.search(text):
        said = found[0]
        kept = _AFFIRMED.get(said, found["verb"] or "")
        return re.sub(" +", " ", text[: found.start()] + kept + text[found.end() :])
    verb = _VERB.search(text)
    return f"{text[: verb.end()]} not{text[verb.end() :]}" if verb else f"It is not the case that {text}"


def opposite(text: str) -> str | None:
    """*text* with the first word that has an opposite replaced by it."""
    for word in re.finditer(r"[A-Za-z]+", text):
        if other := _OPPOSITES.get(word[0].lower()):
            return text[: word.start()] + other + text[word.end() :]
    return None


def _swapped(text: str, pattern: re.Pattern[str], shown: str, random: Random) -> str | None:
    """*text* with one match of *pattern* replaced by another that is *shown* in its turns."""
    own = list(pattern.finditer(text))
    others = sorted({found[0].strip("`") for found in pattern.finditer(shown)})
    others = [each for each in others if each.lower() not in text.lower()]
    if not own or not others:
        return None
    gone = random.choice(own)
    return text[: gone.start()] + random.choice(others) + text[gone.end() :]


def _nearest(text: str, said: SourceTurn) -> str:
    claim = CitedStatement.of(text)
    runs = (run for sentence in said.sentences for run in _runs(sentence.text.split()))
    return max(runs, key=lambda run: claim.share_in(SourceTurn(run).content), default="")


def _runs(words: Sequence[str]) -> Iterator[str]:
    return (" ".join(words[at : at + MOST_WORDS]) for at in range(0, max(1, len(words) - MOST_WORDS + 1), STEP))


def _options() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gold", type=Path, default=DATA / "gold" / "episodes_dev.jsonl", help="labelled sessions")
    parser.add_argument("--quotes", type=Path, default=QUOTES, help="the quotes of their facts")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder that their files are in")
    parser.add_argument("--show", metavar="MUTATION", help="print each fact of a mutation, and why it was dropped")
    return parser


if __name__ == "__main__":
    main(_options().parse_args(sys.argv[1:]))
