"""Check a fact against its quotes and the turns that it cites.

A fact needs a quote that the session has, most of its words in the cited turns and near the quotes, and the polarity of
its quotes. Its numbers must belong to the same thing there, and wishes of the user rest on the user's words. All checks
are lexical; `tests/benchmarks/grounding.py` measures them. If a quote is in another language than the fact, it decides
alone, with the fact's literals.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from nous.domain.episode import CandidateFact, Quote, Trust
from nous.knowledge.equivalence.compare import opposed
from nous.knowledge.equivalence.reading import forms, groups, read, unit_of
from nous.summary.llm.source_index import (
    CitedStatement,
    Literal,
    SourceIndex,
    SourceTurn,
    content_of,
    literals_in,
    plain,
    speaker,
    squeezed,
    stem_of,
    without_label,
)
from nous.text.injection import is_english
from nous.text.language import words

# Shares of a fact's words:
_LEAST = 0.4  # in its evidence, at least: the mean of those in the cited turns and near the quotes
_OWN_WORDS = 0.4  # that one of several speakers says at least, to be its source
_SAME_THING, _SAME_REFERENCE = 0.1, 0.25  # least in the sentence of a number that no quote has, or of a `#12`
_ABOUT = 0.5  # in a clause of its quotes, of those in the best clause, from which it is about the fact, too
# Words:
_BESIDE, _AROUND = 4, 3  # around a number in the fact, and around it in its source, that tell what it counts
_SCOPE, _DENIED = 8, 3  # behind a negation, and content words among them, that it may concern
_PHRASE = 4  # least of a quote that may have a single content word


class Unsupported(StrEnum):
    NO_QUOTE = "it has no quote"
    NOT_QUOTED = "its quotes are not in the session"
    FEW_WORDS = "its turns do not say it"
    OPPOSITE = "its quotes say the opposite"
    OTHER_THING = "its number belongs to something else"
    NOT_SAID = "a number, path or name of it is not in the session"
    NOT_WISHED = "the user did not say so"


class Place(NamedTuple):
    """Place of a quote: its turn, its speaker, and its sentences with their neighbors."""

    quote: Quote
    speaker: Trust
    around: SourceTurn


def places(quotes: Iterable[Quote], session: SourceIndex) -> Iterator[Place]:
    """Yield the place of each quote that the session has, in its turn or else in another one."""
    for quote in quotes:
        wanted = squeezed(without_label(quote.text)) if _says_something(quote.text, session) else ""
        order = sorted(session.turns, key=lambda turn: abs(turn - quote.turn))
        turn = next((turn for turn in order if wanted and wanted in session.turns[turn].squeezed), None)
        if turn is None:
            continue
        segments = list(session.segments([turn]))
        whole = next((each for each in segments if wanted in each.squeezed), None)
        by = speaker(whole) if whole else _least_trusted(map(speaker, segments))
        said = whole or session.turns[turn]
        yield Place(replace(quote, turn=turn), by, said.around(wanted))


def _says_something(quote: str, session: SourceIndex) -> bool:
    """Return whether a quote is a phrase, has a literal, or is all that its speaker says."""
    said = CitedStatement.of(quote)
    fewest = 1 if len(quote.split()) >= _PHRASE else 2
    whole = (squeezed(without_label(each.text)) for each in session.segments())
    return len(said.content) >= fewest or bool(said.tokens) or squeezed(without_label(quote)) in whole


def quoting_nearest(fact: CandidateFact, session: SourceIndex) -> CandidateFact:
    """Return *fact* with the sentence that has most of its literals and words as its quote."""
    claim = CitedStatement.of(fact.text)

    def nearness(each: tuple[int, SourceTurn]) -> tuple[int, float, int]:
        return sum(map(each[1].has, claim.tokens)), claim.share_in(each[1].content), -len(each[1].text)

    said = ((turn, one) for turn, all_said in session.turns.items() for one in all_said.sentences)
    turn, nearest = max(said, key=nearness, default=(0, SourceTurn("")))
    return replace(fact, quotes=(Quote(turn, nearest.text),))


def has_quote(fact: CandidateFact, session: SourceIndex) -> bool:
    return next(places(fact.quotes, session), None) is not None


def missing_quotes(facts: Iterable[CandidateFact], session: SourceIndex) -> str | None:
    """Return a complaint to a model about *facts* that quote nothing of *session*, if any."""
    unquoted = [str(number) for number, fact in enumerate(facts, start=1) if not has_quote(fact, session)]
    if not unquoted:
        return None
    return (
        f"These candidate_facts have no quote that stands in the turn it names: {', '.join(unquoted)}. Copy at most 15 "
        "words of the turn without a change, or leave the fact out. Write the whole JSON object again, with all its "
        "other facts."
    )


def _least_trusted(speakers: Iterable[Trust]) -> Trust:
    return max(speakers, key=list(Trust).index)


def supported(fact: CandidateFact, session: SourceIndex) -> CandidateFact | Unsupported:
    """Return *fact* with all turns that support it, and its trust; or why it has to be dropped."""
    if not fact.quotes:
        return Unsupported.NO_QUOTE
    found = tuple(places(fact.quotes, session))
    if not found:
        return Unsupported.NOT_QUOTED
    cited = {turn for turn in (*fact.turns, *(quote.turn for quote in fact.quotes)) if turn in session.turns}
    evidence = _Evidence(fact.text, found, tuple(sorted(cited | {place.quote.turn for place in found})), session)
    literals = evidence.literal_turns()
    if isinstance(literals, Unsupported):
        return literals
    if objection := evidence.objection():
        return objection
    whole = replace(evidence, turns=tuple(sorted({*evidence.turns, *literals})))
    quotes = tuple(dict.fromkeys(place.quote for place in found))
    # Turns that only have a literal may show that a tool said it; they make no words the user's.
    trust = _least_trusted((evidence.trust(), whole.trust()))
    return replace(fact, turns=whole.turns, quotes=quotes, trust=trust)


@dataclass(frozen=True)
class _Evidence:
    text: str
    places: tuple[Place, ...]
    turns: tuple[int, ...]
    session: SourceIndex

    def objection(self) -> Unsupported | None:
        is_own = is_english(self.text)
        if all(is_english(place.around.text) is not is_own for place in self.places):
            return None
        cited = frozenset[str]().union(*(self.session.turns[turn].content for turn in self.turns))
        near = frozenset[str]().union(*(place.around.content for place in self.places))
        if (self.claim.share_in(cited) + self.claim.share_in(near)) / 2 < _LEAST:
            return Unsupported.FEW_WORDS
        if contradicted(self.text, [place.quote.text for place in self.places]):
            return Unsupported.OPPOSITE
        if words().says("wishes", self.text) and not self._is_users():
            return Unsupported.NOT_WISHED
        return None

    def _is_users(self) -> bool:
        """Return whether a quote is the user's, or what the user decided."""
        decided = (self.session.is_decided(squeezed(without_label(place.quote.text))) for place in self.places)
        return any(place.speaker is Trust.USER for place in self.places) or any(decided)

    def literal_turns(self) -> Sequence[int] | Unsupported:
        """Return the turns, beside the cited ones, that have literals of the fact; or an objection."""
        if objection := self._objection_to_dates():
            return objection
        further: list[int] = []
        for literal in sorted(self.claim.tokens):
            if literal in self._dated:
                continue
            if any(quote.has(literal) for quote in self._quotes):
                if self._has_other_unit(literal.text):
                    return Unsupported.OTHER_THING
                continue
            cited = [turn for turn in self.turns if self.session.turns[turn].has(literal)]
            having = cited or [turn for turn, said in self.session.turns.items() if said.has(literal)]
            if not having and self.session.whole.has(literal):
                continue
            if not having:
                return Unsupported.NOT_SAID
            if literal.kind == "number":
                shares = {turn: self._share_near(literal, self.session.turns[turn]) for turn in having}
                having = sorted(having, key=lambda turn: -shares[turn])
                if shares[having[0]] < _SAME_THING or self._has_rival(literal):
                    return Unsupported.OTHER_THING
            further += [] if cited else having[:1]
        return further

    def _objection_to_dates(self) -> Unsupported | None:
        """Return an objection if the session, or quotes that have dates, have other ones."""
        dates, quotes = list(_DATE.finditer(self.text)), [quote.plain for quote in self._quotes]
        if not all(_in_any_form(date, self.session.whole.plain) for date in dates):
            return Unsupported.NOT_SAID
        is_quoted = any(_in_any_form(date, quote) for date in dates for quote in quotes)
        return Unsupported.OTHER_THING if dates and not is_quoted and any(map(_has_day, quotes)) else None

    def _share_near(self, number: Literal, said: SourceTurn) -> float:
        """Return the fact's share of words in the sentence of *number*, 0 if its neighbors differ."""
        share = max((self.claim.share_in(each.content) for each in said.sentences if each.has(number)), default=0.0)
        if f"#{number.text}" in self.text and share >= _SAME_REFERENCE:
            return 1.0
        beside = frozenset[str]().union(*SourceTurn(self.text).around_literal(number, _BESIDE))
        is_near = not beside or any(beside & around for around in said.around_literal(number, _AROUND))
        return share if is_near else 0.0

    def _has_rival(self, number: Literal) -> bool:
        """Return whether the quotes give its unit or label, which occurs once, to another number."""
        marked = list(_marked(self.text))
        times = Counter(mark for _, mark in marked)
        own = {mark for each, mark in marked if each == number.text and times[mark] == 1}
        quoted = {each for each, mark in self._marked_in_quotes if mark in own}
        is_beside = any(place.around.has(number) for place in self.places)
        return bool(quoted) and not is_beside and quoted.isdisjoint(each for each, _ in marked)

    def _has_other_unit(self, number: str) -> bool:
        own, quoted = (
            {mark for each, mark in marked if each == number and mark in forms("units").values()} - _VAGUE
            for marked in (_marked(self.text), self._marked_in_quotes)
        )
        return bool(own and quoted) and own.isdisjoint(quoted)

    @cached_property
    def _marked_in_quotes(self) -> Sequence[tuple[str, str]]:
        return [each for place in self.places for each in _marked(place.quote.text)]

    @cached_property
    def _dated(self) -> frozenset[Literal]:
        """Return the years of its dates, and the days that stand nowhere else in it."""
        dates = list(_DATE.finditer(self.text))
        others = literals_in(_DATE.sub(" ", self.text)) - {Literal("number", date[1]) for date in dates}
        return frozenset[Literal]().union(*(literals_in(date[0]) for date in dates)) - others

    @cached_property
    def claim(self) -> CitedStatement:
        return CitedStatement.of(self.text)

    @cached_property
    def _quotes(self) -> Sequence[SourceTurn]:
        return [SourceTurn(place.quote.text) for place in self.places]

    def trust(self) -> Trust:
        """Return the trust in the quotes' speaker; of several, in the most trusted who says enough."""
        speakers = {place.speaker for place in self.places}
        ranked = (trust for trust in Trust if trust in speakers and self._share_of(trust) >= _OWN_WORDS)
        return next(ranked, _least_trusted({*speakers, Trust.ASSISTANT} if Trust.USER in speakers else speakers))

    def _share_of(self, speaker_: Trust) -> float:
        segments = (each for each in self.session.segments(self.turns) if speaker(each) is speaker_)
        return self.claim.share_in(frozenset[str]().union(*(each.content for each in segments)))


_VAGUE = frozenset({"k", "million"})  # units that have other meanings: `15m` may be minutes, or megabytes
_MARKED = re.compile(
    r"(?:(?<![^\W\d_])(?P<label>[^\W\d_]+|[#$€£]) ?)?"
    r"(?<![\w.])(?P<number>\d+(?:\.\d+)*)(?!\w*\d)(?: ?-?(?P<unit>[^\W\d_]+|%))?"
)


def _marked(text: str) -> Iterator[tuple[str, str]]:
    """Yield each number of *text* with its unit, and with the word before it or `#`."""
    for found in _MARKED.finditer(plain(text)):
        marks = (stem_of(found["label"] or "") or found["label"], found["unit"] and unit_of(found["unit"]))
        yield from ((found["number"], mark) for mark in marks if mark)


def _has_day(text: str) -> bool:
    months = "|".join(groups("months"))
    days = rf"\b(?:{months}|sept)\b\.? ?\d|\d(?:st|nd|rd|th)?\.? (?:of )?(?:{months}|sept)\b|\d{{4}}-\d\d-\d\d"
    return re.search(days, text) is not None


def _in_any_form(date: re.Match[str], said: str) -> bool:
    """Return whether *said* has *date*, in numbers or words."""
    year, month, day = (int(part) for part in date.groups())
    names = [name for name, at in groups("months").items() if at == month - 1]
    if not names:
        return False
    on, in_, name = rf"0?{day}(?!\d)", rf"0?{month}", rf"(?:{'|'.join(names)}|{names[0]}t)\b\.?"
    nth, others = rf"(?<!\d)0?{day}(?:st|nd|rd|th)?(?!\d)", r"(?:\d{1,2}(?:st|nd|rd|th)? ?(?:-|,|to|and) ?)?"
    same_year = rf"(?![,/ -]{{1,2}}(?!{year})(?:19|20)\d\d\b)"
    foreign = rf"(?!(?:{'|'.join(groups('months'))})\b)[^\W\d_]{{3,}}"
    forms_ = (
        rf"(?<!\d){year} ?[-/.年년] ?{in_} ?[-/.月월] ?{on}|{year}{month:02}{day:02}|(?<!\d){in_} ?[月월] ?{on}",
        rf"(?<!\d)(?:{on}[-/.]{in_}|{in_}[-/.]{on})[-/.]{year}",
        rf"\b{name} ?(?:the )?{others}{nth}{same_year}",
        rf"{nth}\.?(?: of)?(?: ?(?:-|to|and) ?\d{{1,2}})?[ /-]{name}{same_year}",
        rf"{nth}\W{{1,2}}(?:de )?{foreign}(?: de)? {year}",
    )
    return any(re.search(form, said) for form in forms_)


def _clauses(text: str, quotes: Iterable[str], least: float) -> Sequence["_Polarity"]:
    """Return the clauses of *quotes* that say at least *least* of the most words of *text*."""
    wanted = content_of(text)
    shares = {each: len(wanted & content_of(each)) for quote in quotes for each in _CLAUSE_ENDS.split(quote)}
    most = max(shares.values(), default=0)
    return [_Polarity(clause) for clause, share in shares.items() if share >= max(1, least * most)]


def contradicted(text: str, quotes: Sequence[str]) -> bool:
    """Return whether *quotes* deny what *text* states, or state what it denies."""
    if (whole := _DENIES_ALL.match(text)) and not any(map(_DENIES_ALL.search, quotes)):
        return not contradicted(text[whole.end() :], quotes)
    fact, said = _Polarity(_QUOTED.sub(" ", text)), [_Polarity(quote) for quote in quotes]
    if fact.plain_denials and not any(each.negative for each in said):
        return True
    if not fact.negative and any(each.denials for each in _clauses(text, quotes, _ABOUT)):
        return True
    if _only_denied(fact, said):
        return True
    if any(_only_denied(each, [fact]) for each in _clauses(text, quotes, 1)):
        return True
    own, others = read(text), list(map(read, quotes))
    return bool(quotes) and all(opposed(own, it) and not (own.negations - it.negations) % 2 for it in others)


_DATE = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`")
_WORD = re.compile(r"[^\W\d_]+'t\b|\w[\w'./-]*\w|\w")
_CLAUSE_ENDS = re.compile(r"[,;:.!?]\s|\n|\b(?:but|because|since|so|while|whereas)\b")
_UNMARKED = re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|ca|wo|should|would|could|must|need)nt\b")
_AFFIRMS = re.compile(r"\b(?:don't|do not|never) forget(?: to)?\b|\bnot only\b")
_DENIES = re.compile(r"\b(?:no longer|can not)\b")
_DENIES_ALL = re.compile(r"\s*it is not (?:the case|true) that\b", re.IGNORECASE)
_LACKS = frozenset({"no", "without"})  # with a denial, words that may end a clause about what there is not
_CONTRAST = re.compile(r"(?:,|\bbut|\band)\s*\Z")


class _Polarity:
    """Words of a text: which of them deny, which are negative in any way, and what is denied."""

    def __init__(self, text: str) -> None:
        sets = words().sets
        text = _DENIES.sub("not", _AFFIRMS.sub(" ", _UNMARKED.sub(r"\1n't", plain(text))))
        found = [(word[0], word.start()) for word in _WORD.finditer(text)]
        self._stems = [stem_of(word) for word, _ in found]
        self.denials = [at for at, (word, _) in enumerate(found) if word in sets["denials"] or word.endswith("n't")]
        negative = (at for at, (word, _) in enumerate(found) if word.startswith("non-") or word in sets["negative"])
        self.negative = {*self.denials, *negative}
        self.closing = [at for at, (word, _) in enumerate(found) if at in self.denials or word in _LACKS]
        contrasts = {at for at in self.denials if _CONTRAST.search(text, 0, found[at][1])}
        ends = [end.start() for end in _CLAUSE_ENDS.finditer(text)]
        self._clauses = [bisect_left(ends, start) for _, start in found]
        self.plain_denials = [at for at in self.denials if at not in contrasts]
        self.denied = {stem for at in self.plain_denials for stem in self._next(at)}

    def _next(self, at: int) -> Iterable[str]:
        end = bisect_right(self._clauses, self._clauses[at])
        return islice(filter(None, self._stems[at + 1 : end]), _DENIED)

    def affirms(self, stem: str) -> bool | None:
        """Return whether the text has *stem* with no negation near it; None if it has no *stem*."""
        found = [at for at, each in enumerate(self._stems) if each == stem]
        if not found:
            return False if self.denials else None
        before = any(at - _SCOPE <= negation <= at for at in found for negation in self.negative)
        after = any(
            at < negation and self._clauses[at] == self._clauses[negation] for at in found for negation in self.closing
        )
        return not before and not after and not any(at + 1 in self.negative for at in found)


def _only_denied(text: _Polarity, others: Sequence[_Polarity]) -> bool:
    """Return whether some of *others* state, and none deny, a word that *text* denies."""
    found = ({other.affirms(stem) for other in others} for stem in text.denied)
    return any(True in each and False not in each for each in found)
