"""Detect that two people are chatting, and choose their most factual turns for an excerpt.

Signs of a statement are names, possessives and times; phrases that only keep the conversation going speak against it.
The words are in `talk.toml` and `nous.text.language`; their weights were fitted to hand-labelled conversations
(tests/benchmarks/chats.py) and rounded.

A short turn is shown whole or left out: a statement without its context is seldom understood, and labels and marks take
what a cut saves.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import exp, fsum, prod
from typing import NamedTuple

from nous.domain.summary_input import BETWEEN
from nous.excerpt.floor import first_and_last
from nous.excerpt.items import Item, Items, Role
from nous.excerpt.layout import (
    LengthAccount,
    complete,
    ends,
    full_length,
    label_length,
    longest_closing,
    merged,
    most_added,
)
from nous.excerpt.strategy import Choice
from nous.text.language import tables, words
from nous.text.sentences import Span, sentences

_FEWEST_EACH = 10
_LONGEST_MEAN = 400
_BALANCED = 4.0
_MOST_OF_SERVICE = 0.1
"""Maximum share of turns that may sound like service or look like a document. A few do among friends too."""

_LAID_OUT = re.compile(r"```|\*\*|^\s*(?:[-*#]|\d+[.)])\s", re.MULTILINE)
_WORD = re.compile(r"\w[\w'-]*")
_NAME = re.compile(r"(?<=[^.!?:] )[A-Z][a-z\u00df-\u00ff]+")

_WEIGHTS = {
    "living": 1.4, "times": 1.25, "counts": 1.2, "near": 1.1, "own": 0.9, "oneself": 0.8, "past": 0.7, "plans": 0.3,
    "niceties": -1.4, "abstract": -1.4, "addressed": -1.4, "pointing": -0.8,
}  # fmt: skip
"""Log-odds that a word from each list of `talk.toml` adds, once per sentence."""

_BASE = -3.75
_NAMED, _NUMBERED, _ASKED, _EXCLAIMED, _CURT = 1.6, 0.5, -1.1, -0.7, -0.9
_DID_ONESELF = 0.7
_OPENS_EMPTY = -0.9
_TOPIC, _MOST_TOPICS = 0.2, 12
_RARE, _MOST_RARE, _USUAL_RARE = 0.5, 4.0, 1.5
_FEWEST_WORDS = 4
_SHORTEST_TOPIC = 3
_SHORTEST_PAST = 5  # shortest past form to recognize: a shorter word with such an ending seldom is one

_TOPIC_WORD, _FIGURE, _LONG_ENOUGH = "topic", "figure", "long enough"
"""Signs of a word that no list of `talk.toml` gives."""

_OPENING = frozenset({"niceties", "pointing"})


def is_talk(items: Sequence[Item]) -> bool:
    """Return whether two people talk: many short, balanced turns without tools or service."""
    sides = [[len(item.text) for item in items if item.role is role] for role in (Role.USER, Role.ASSISTANT)]
    if sum(map(len, sides)) < len(items) or min(map(len, sides)) < _FEWEST_EACH:
        return False
    sizes = [sum(side) for side in sides]
    if max(sizes) > _BALANCED * min(sizes) or sum(sizes) > _LONGEST_MEAN * len(items):
        return False
    known = words()
    of_service = sum(known.says("serves", item.text) or bool(_LAID_OUT.search(item.text)) for item in items)
    return of_service <= _MOST_OF_SERVICE * len(items)


def states(sentence: str, spoken: Mapping[str, int]) -> float:
    """Return the probability that *sentence* states a fact; topics *spoken* of seldom raise it."""
    found = _words(sentence)
    about, signs = _read(found)
    odds = _worth(signs) + _TOPIC * min(len(about), _MOST_TOPICS)
    rare = fsum(1 / spoken.get(topic, 1) for topic in about)  # fsum: the order of a set does not change the result
    odds += _RARE * (min(rare, _MOST_RARE) - _USUAL_RARE)
    if _NAME.search(sentence):
        odds += _NAMED
    if found and not _signs(found[0]).isdisjoint(_OPENING):
        odds += _OPENS_EMPTY
    return 1 / (1 + exp(-odds - _ASKED * ("?" in sentence) - _EXCLAIMED * ("!" in sentence)))


def topics(text: str) -> set[str]:
    return _read(_words(text))[0]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def _read(found: Sequence[str]) -> tuple[set[str], frozenset[str]]:
    signs = [_signs(word) for word in found]
    about = {word for word, of_word in zip(found, signs, strict=True) if _TOPIC_WORD in of_word}
    own = () if len(found) < _FEWEST_WORDS else (_LONG_ENOUGH,)
    return about, frozenset(own).union(*signs)


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(text.split()) for name, text in tables("nous.excerpt", "talk").items()}


@lru_cache(maxsize=1 << 16)
def _signs(word: str) -> frozenset[str]:
    sets = _lists()
    stem = next((word.removesuffix(end) for end in sets["possessive_endings"] if word.endswith(end)), word)
    signs = {name for name in _WEIGHTS if word in sets[name] or stem in sets[name]}
    if len(word) >= _SHORTEST_PAST and word.endswith(tuple(sets["past_endings"])):
        signs.add("past")
    if len(word) >= _SHORTEST_TOPIC and word not in words().sets["stopwords"] | sets["niceties"] | sets["abstract"]:
        signs.add(_TOPIC_WORD)
    if any(map(str.isdigit, word)):
        signs.add(_FIGURE)
    return frozenset(signs)


@lru_cache(maxsize=1 << 16)
def _worth(signs: frozenset[str]) -> float:
    did_oneself = "past" in signs and not signs.isdisjoint({"oneself", "own"})
    odds = _BASE + fsum(weight for name, weight in _WEIGHTS.items() if name in signs)
    odds += _DID_ONESELF * did_oneself + _NUMBERED * (_FIGURE in signs)
    return odds if _LONG_ENOUGH in signs else odds + _CURT


WHOLE = 600
_LONGEST_PIECE = 400
_ROUNDS = 3
_ENDS_SHARE = 1 / 8  # maximum share of the room for the first turn, and for the last


class _Part(NamedTuple):
    """A turn, or a sentence of a long one; *worth* is how likely a fact is per character."""

    at: int
    span: Span
    worth: float


def most_told(items: Items, room: int) -> Choice:
    """Choose the first and the last item, then the most factual others that fit."""
    shown = dict(_ends(items, room))
    reasons = dict.fromkeys(shown, "first or last")
    waiting = sorted(_parts(items), key=lambda part: (-part.worth, part.at, part.span)) if shown else []
    for _ in range(_ROUNDS):
        waiting = _fill(items, shown, waiting, room)
    choice = Choice()
    for index, spans in shown.items():
        reason = reasons.get(index, "states most for its length")
        choice.take(index, complete(spans, items[index].text), reason=reason)
    return choice


def _ends(items: Items, room: int) -> Mapping[int, tuple[Span, ...]]:
    spans = {index: ends(items[index].text, int(room * _ENDS_SHARE)) for index in sorted({0, len(items) - 1})}
    if all(spans.values()) and LengthAccount.exactly(items, spans).spent <= room:
        return spans
    return first_and_last(items, room).spans


def _parts(items: Items) -> Iterator[_Part]:
    spoken = Counter(topic for item in items for topic in topics(item.text))
    for index, item in enumerate(items):
        said = [(span, states(item.text[slice(*span)], spoken)) for span in sentences(item.text)]
        beside = label_length(item) + len(BETWEEN)
        if len(item.text) <= WHOLE:
            likely = 1 - prod(1 - one for _, one in said)
            yield _Part(index, (0, len(item.text)), likely / (len(item.text) + beside))
            continue
        for (start, end), likely in said:
            for begun in range(start, end, _LONGEST_PIECE):
                length = min(end - begun, _LONGEST_PIECE)
                yield _Part(index, (begun, begun + length), likely / (length + beside))


def _fill(items: Items, shown: dict[int, tuple[Span, ...]], waiting: Sequence[_Part], room: int) -> list[_Part]:
    account = LengthAccount.exactly(items, shown)
    closing = {index: longest_closing(items[index].text) for index in {part.at for part in waiting}}
    misfits: list[_Part] = []
    for part in waiting:
        spans = shown.get(part.at, ())
        if any(part.span[0] < end and part.span[1] > start for start, end in spans):
            continue
        length = _length(items[part.at].text, part.span, closing=closing[part.at], to_nothing=not spans)
        if account.spent + account.cost(part.at, length) <= room:
            account.take(part.at, length)
            shown[part.at] = merged((*spans, part.span))
        else:
            misfits.append(part)
    return misfits


def _length(text: str, span: Span, *, closing: int, to_nothing: bool) -> int:
    if span == (0, len(text)):
        return full_length(text)
    return most_added(text, span, closing=closing, to_nothing=to_nothing)
