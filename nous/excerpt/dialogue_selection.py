"""Choose the turns of a two-person conversation that state most facts per character.

A short turn is shown whole or left out. A statement without its context is seldom understood, and labels and marks take
what a cut saves. Only turns longer than `WHOLE` are cut into sentences.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from nous.domain.summary_input import BETWEEN
from nous.excerpt.dialogue import states, topics
from nous.excerpt.floor import first_and_last
from nous.excerpt.items import Items
from nous.excerpt.layout import LengthAccount, label_length
from nous.excerpt.spans import complete, ends, full_length, longest_closing, merged, most_added
from nous.excerpt.strategy import Choice
from nous.text.sentences import Span, sentences

WHOLE = 600
_LONGEST_PIECE = 400
_ROUNDS = 3
_ENDS_SHARE = 1 / 8
"""Maximum share of the room for the first turn, and for the last."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A turn, or a sentence of a long one; *worth* is how likely a fact is per character."""

    index: int
    span: Span
    worth: float


def most_told(items: Items, room: int) -> Choice:
    """Choose the first and the last item, then the most factual others that fit."""
    shown = dict(_ends(items, room))
    reasons = dict.fromkeys(shown, "first or last")
    waiting = sorted(_parts(items), key=lambda part: (-part.worth, part.index, part.span)) if shown else []
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
    closing = {index: longest_closing(items[index].text) for index in {part.index for part in waiting}}
    misfits: list[_Part] = []
    for part in waiting:
        spans = shown.get(part.index, ())
        if any(part.span[0] < end and part.span[1] > start for start, end in spans):
            continue
        length = _length(items[part.index].text, part.span, closing=closing[part.index], to_nothing=not spans)
        if account.spent + account.cost(part.index, length) <= room:
            account.take(part.index, length)
            shown[part.index] = merged((*spans, part.span))
        else:
            misfits.append(part)
    return misfits


def _length(text: str, span: Span, *, closing: int, to_nothing: bool) -> int:
    """Return an upper bound for the characters that *span* of *text* takes."""
    if span == (0, len(text)):
        return full_length(text)
    return most_added(text, span, closing=closing, to_nothing=to_nothing)
