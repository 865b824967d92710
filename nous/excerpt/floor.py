"""What has to survive, whatever else does: what people said and decided, what was done, how it began and ended.

The promises are tried from the best to the least, and the first that the room can keep is kept:

1. every user and decision turn, the first and the last item, the assistant's last words and all deeds are whole;
2. user and decision turns and all deeds are whole, the others visible, at `VISIBLE` characters or at `GLIMPSE`;
3. user and decision turns are whole, the others visible at a glimpse, and as many deeds whole as there is room for;
4. all but the deeds are visible, at `VISIBLE` or at `GLIMPSE`; where two people talk, glimpses tell nothing, and only
   the first and the last have a floor;
5. the first, the last, and as many as there is room for, evenly spread.

What a promise leaves goes to deeds, the last first, then most of it to those that were cut, in proportion to their
weights, and some to the last errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nous.excerpt.calls import are_all, deeds_in, take_deeds
from nous.excerpt.dialogue import is_talk
from nous.excerpt.items import PERSONAL, Item, Items, Role
from nous.excerpt.layout import Ledger
from nous.excerpt.spans import ends, full_length, longest_closing, mark, merged, outline, shown_length
from nous.excerpt.strategy import Choice
from nous.text.sentences import Span

_ROUNDS = 24


@dataclass(frozen=True, slots=True)
class Claim:
    """Someone's wish for between *owed* and *needed* characters."""

    weight: float
    owed: int
    needed: int


def shares(claims: Sequence[Claim], room: int) -> list[int]:
    """How many characters each of *claims* gets, in all at most *room*, or what is owed if even that is more.

    The level is found by bisection: a claim gets `weight * level`, held between what it is owed and what it needs.
    """
    low, high = 0.0, max((claim.needed / claim.weight for claim in claims), default=0.0)
    if sum(_at(high, claims)) <= room:
        return _at(high, claims)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if sum(_at(middle, claims)) <= room:
            low = middle
        else:
            high = middle
    return _at(low, claims)


def _at(level: float, claims: Sequence[Claim]) -> list[int]:
    return [min(claim.needed, max(claim.owed, int(claim.weight * level))) for claim in claims]


VISIBLE = 160
GLIMPSE = 24
FLOOR_SHARE = 0.65
"""How much of the room that a promise leaves goes to those it cut; the rest is for errors and for coverage."""

DEEDS_SHARE = 0.6
"""How much of the room that a promise leaves deeds may take where not all of them have been promised."""

ERRORS_SHARE = 0.15
"""How much of the room errors may take of what the promises leave."""

_FIRST, _LAST_USER, _USER, _FINAL, _DECISION, _OTHER = 14.0, 12.0, 10.0, 14.0, 9.0, 6.0
_DOCUMENTS = frozenset({Role.USER, Role.SUMMARY, Role.TASK, Role.TEAMMATE})
"""Who may have pasted a plan, or written a text with headings, of which the outline says more than its end."""

_DEED, _ERROR = 8.0, 4.0


def floor(items: Items, room: int) -> Choice:
    """The best promise that *room* can keep, and the last errors if room is left."""
    weights = _weights(items)
    deeds = deeds_in(items, but=weights)
    for owed, with_all_deeds in _promises(items, weights):
        if sum(owed.values()) > room:
            continue
        ledger = Ledger(items, owed.items())
        if ledger.spent > room:
            continue
        spare = room - ledger.spent
        done = take_deeds(items, deeds, ledger, spare if with_all_deeds else int(spare * DEEDS_SHARE))
        if not with_all_deeds or are_all(deeds, done):
            choice = _shared(items, owed, spare=room - ledger.spent, scores=_scores(items, weights))
            for index, spans in done.items():
                choice.take(index, spans, reason="a deed")
            _add_errors(items, choice, Ledger.exactly(items, choice.spans), room)
            return choice
    return replace(_spread(items, sorted(weights), room), scores=_scores(items, weights))


def _weights(items: Items) -> dict[int, float]:
    """The items that have a floor, and how much each counts. The task of a sub-agent counts as its first user turn."""
    of_users = [index for index, item in enumerate(items) if item.role is Role.USER]
    users = of_users or [0] * (items[0].role is Role.TASK)
    finals = [index for index, item in enumerate(items) if item.role is Role.ASSISTANT][-1:]
    weights = dict.fromkeys((0, len(items) - 1), _OTHER)
    weights |= {index: _DECISION for index, item in enumerate(items) if item.role is Role.DECISION}
    weights |= dict.fromkeys(users, _USER) | dict.fromkeys(users[-1:], _LAST_USER) | dict.fromkeys(users[:1], _FIRST)
    return weights | dict.fromkeys(finals, _FINAL)


def _scores(items: Items, weights: Mapping[int, float]) -> dict[int, float]:
    """What every item that may be shown here counts, be it shown or not."""
    deeds = dict.fromkeys((index for index, item in enumerate(items) if item.deeds), _DEED)
    errors = dict.fromkeys((index for index, item in enumerate(items) if item.role is Role.ERROR), _ERROR)
    return {**errors, **deeds, **weights}


def _promises(items: Items, weights: Mapping[int, float]) -> Iterator[tuple[dict[int, int], bool]]:
    """What each item with a floor is owed, in characters, and whether all deeds are promised with it."""
    sizes = {index: full_length(items[index].text) for index in sorted(weights)}
    yield sizes, True
    personal = {index: size for index, size in sizes.items() if items[index].role in PERSONAL}
    visible = {index: _visible(items[index], size) for index, size in sizes.items()}
    yield visible | personal, True
    glimpses = {index: _glimpse(items[index], size) for index, size in sizes.items()}
    yield from ((glimpses | personal, True), (glimpses | personal, False), (visible, False))
    yield glimpses if not is_talk(items) else {index: glimpses[index] for index in (0, len(items) - 1)}, False


def _shared(items: Items, owed: Mapping[int, int], *, spare: int, scores: dict[int, float]) -> Choice:
    """Everyone at what is *owed*, and most of *spare* shared among those that it cuts."""
    claims = [Claim(scores[index], least, full_length(items[index].text)) for index, least in owed.items()]
    choice = Choice(scores=scores)
    given = shares(claims, sum(owed.values()) + int(spare * FLOOR_SHARE))
    for index, characters in zip(owed, given, strict=True):
        choice.take(index, _part(items[index], characters), reason="has a floor")
    return choice


def _part(item: Item, characters: int) -> tuple[Span, ...]:
    """As much of *item* as so many characters show: its deeds, if it has any that fit; else its beginning and end."""
    if item.deeds and full_length(item.text) > characters:
        deeds = merged(item.deeds)
        if shown_length(item.text, deeds) <= characters:
            return deeds
    return outline(item.text, characters) if item.role in _DOCUMENTS else ends(item.text, characters)


def _add_errors(items: Items, choice: Choice, ledger: Ledger, room: int) -> None:
    """Show the last errors, too, as many as their share of the room holds."""
    limit = min(room, ledger.spent + int(ERRORS_SHARE * room))
    for index in reversed([index for index, item in enumerate(items) if item.role is Role.ERROR]):
        if limit - ledger.spent < GLIMPSE:
            break
        if index not in choice.spans:
            _add(items, choice, index, ledger=ledger, limit=limit)


def _add(items: Items, choice: Choice, index: int, *, ledger: Ledger, limit: int) -> None:
    """Show of the item at *index* what fits under *limit*."""
    left = limit - ledger.spent - ledger.cost(index, 0)
    if left > 0 and (spans := ends(items[index].text, left)):
        ledger.take(index, shown_length(items[index].text, spans))
        choice.take(index, spans, reason="among the last errors")


def _spread(items: Items, indexes: Sequence[int], room: int) -> Choice:
    """As many of *indexes* as fit, the first and the last among them, evenly spread, each at a glimpse."""
    fewest, most = 2, min(len(indexes), room // GLIMPSE)
    glimpses = {index: _glimpse(items[index], full_length(items[index].text)) for index in indexes}
    picked: list[int] = []
    while fewest <= most:
        count = (fewest + most) // 2
        spread = sorted({indexes[round(step * (len(indexes) - 1) / (count - 1))] for step in range(count)})
        if Ledger(items, ((index, glimpses[index]) for index in spread)).spent <= room:
            picked, fewest = spread, count + 1
        else:
            most = count - 1
    spans = {index: ends(items[index].text, glimpses[index]) for index in picked}
    return Choice.of(spans, reason="one of many, evenly spread") if spans else first_and_last(items, room)


def _visible(item: Item, size: int) -> int:
    """How many characters make *item* visible, of *size* in all: a beginning and an end, or its deeds."""
    of_deeds = shown_length(item.text, merged(item.deeds)) if item.deeds else 0
    return min(size, max(VISIBLE + 3 * longest_closing(item.text), of_deeds))


def _glimpse(item: Item, size: int) -> int:
    """How many characters a glimpse of *item* takes, which has *size* of them."""
    return min(size, GLIMPSE + len(mark(size)) + 3 * longest_closing(item.text))


def first_and_last(items: Items, room: int) -> Choice:
    """The first and the last item in half the room each; an empty choice if that shows nothing of them."""
    picked = sorted({0, len(items) - 1})
    frame = Ledger(items)
    for index in picked:
        frame.take(index, 0)
    each = (room - frame.spent) // len(picked)
    spans = {index: ends(items[index].text, each) for index in picked}
    return Choice.of(spans, reason="first or last") if all(spans.values()) else Choice()
