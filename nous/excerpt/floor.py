"""Choose an excerpt's guaranteed part: user turns, approvals, external effects, last reply.

Guarantees are tried from the strongest to the weakest, and the first that fits into the room applies:

1. every user and decision turn, the first and the last item, the assistant's last words and all side effects are whole;
2. user and decision turns and all side effects are whole, the others visible, at `VISIBLE` characters or at `GLIMPSE`;
3. user and decision turns are whole, the others visible at a glimpse, and as many side effects whole as there is room
   for;
4. all but the side effects are visible, at `VISIBLE` or at `GLIMPSE`;
5. the first, the last, and as many as there is room for, evenly spread.

Of texts that users pasted, the beginning and the end count as whole. The remaining room goes to side effects, the last
first, then to items that were cut, by weight, and to errors.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from nous.excerpt.items import PERSONAL, Item, Items, Role
from nous.excerpt.layout import LengthAccount, ends, full_length, longest_closing, mark, merged, shown_length
from nous.excerpt.strategy import Choice
from nous.text.sentences import Span

_ROUNDS = 24


class FloorClaim(NamedTuple):
    weight: float
    owed: int
    needed: int


def shares(claims: Sequence[FloorClaim], room: int) -> list[int]:
    """Divide *room* among *claims* by water-filling, never below what each is owed."""
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


def _at(level: float, claims: Sequence[FloorClaim]) -> list[int]:
    return [min(claim.needed, max(claim.owed, int(claim.weight * level))) for claim in claims]


VISIBLE = 160
GLIMPSE = 24
FLOOR_SHARE = 0.65
"""Share of the room left by a guarantee for items that it cut; the rest is for errors and coverage."""

SIDE_EFFECTS_SHARE = 0.6  # maximum share of the room left by a guarantee for side effects that it does not include
ERRORS_SHARE = 0.18  # maximum share of the room for errors, out of what the guarantees leave
PASTED_SHARE = 0.35  # maximum share of the room that is due to texts that users pasted
_LEAST_PASTED = 600  # characters due to each even so: its first line was typed
_FIRST, _LAST_USER, _USER, _FINAL, _DECISION, _OTHER = 14.0, 12.0, 10.0, 14.0, 9.0, 6.0


def floor(items: Items, room: int) -> Choice:
    """Choose by the strongest guarantee that fits into *room*, plus errors."""
    weights = _weights(items)
    sizes = lengths_due(items, sorted(weights), room)
    side_effects = side_effects_in(items, but=weights)
    for owed, with_all_side_effects in _guarantees(items, sizes):
        if sum(owed.values()) > room:
            continue
        account = LengthAccount(items, owed.items())
        if account.spent > room:
            continue
        spare = room - account.spent
        most = spare if with_all_side_effects else int(spare * SIDE_EFFECTS_SHARE)
        done, are_all = take_side_effects(items, side_effects, account, most)
        if are_all or not with_all_side_effects:
            choice = _shared(items, owed, sizes, room - account.spent, weights)
            for index, spans in done.items():
                choice.take(index, spans, reason="side effect")
            _add_errors(items, choice, LengthAccount.exactly(items, choice.spans), room)
            return choice
    return _spread(items, sorted(weights), room)


def _weights(items: Items) -> dict[int, float]:
    """Return the weights of the items with a floor; the task of a sub-agent is a user turn."""
    of_users = [index for index, item in enumerate(items) if item.role is Role.USER]
    users = of_users or [0] * (items[0].role is Role.TASK)
    finals = [index for index, item in enumerate(items) if item.role is Role.ASSISTANT][-1:]
    weights = dict.fromkeys((0, len(items) - 1), _OTHER)
    weights |= {index: _DECISION for index, item in enumerate(items) if item.role is Role.DECISION}
    weights |= dict.fromkeys(users, _USER) | dict.fromkeys(users[-1:], _LAST_USER) | dict.fromkeys(users[:1], _FIRST)
    return weights | dict.fromkeys(finals, _FINAL)


def lengths_due(items: Items, indexes: Iterable[int], room: int) -> dict[int, int]:
    """Return the lengths of the items at *indexes*; of pasted texts, those due to them."""
    lengths = {index: full_length(items[index].text) for index in indexes}
    pasted = [index for index, length in lengths.items() if length <= room and index in items.pasted]
    most = max(_LEAST_PASTED, int(room * PASTED_SHARE) // max(1, len(pasted)))
    return lengths | {index: min(lengths[index], most) for index in pasted}


def _guarantees(items: Items, sizes: dict[int, int]) -> Iterator[tuple[dict[int, int], bool]]:
    """Yield the characters owed to each item with a floor, and if all side effects are due."""
    yield sizes, True
    personal = {index: size for index, size in sizes.items() if items[index].role in PERSONAL}
    visible = {index: _visible(items[index], size) for index, size in sizes.items()}
    yield visible | personal, True
    glimpses = {index: _glimpse(items[index], size) for index, size in sizes.items()}
    yield from ((glimpses | personal, True), (glimpses | personal, False), (visible, False), (glimpses, False))


def _shared(items: Items, owed: dict[int, int], sizes: dict[int, int], spare: int, weights: dict[int, float]) -> Choice:
    claims = [FloorClaim(weights[index], least, sizes[index]) for index, least in owed.items()]
    choice = Choice()
    given = shares(claims, sum(owed.values()) + int(spare * FLOOR_SHARE))
    for index, characters in zip(owed, given, strict=True):
        choice.take(index, ends(items[index].text, characters), reason="has a floor")
    return choice


def _add_errors(items: Items, choice: Choice, account: LengthAccount, room: int) -> None:
    limit = min(room, account.spent + int(ERRORS_SHARE * room))
    errors = [index for index, item in enumerate(items) if item.role is Role.ERROR]
    for index in (*errors[-1:], *sorted(errors[-2::-1], key=lambda index: len(items[index].text))):
        if limit - account.spent < GLIMPSE:
            break
        if index in choice.spans:
            continue
        text, left = items[index].text, limit - account.spent - account.cost(index, 0)
        if left > 0 and (spans := ends(text, left)):
            account.take(index, shown_length(text, spans))
            choice.take(index, spans, reason="one of the errors")


def _spread(items: Items, indexes: Sequence[int], room: int) -> Choice:
    """Show as many of *indexes* as fit, evenly spread, each at a glimpse."""
    fewest, most = 2, min(len(indexes), room // GLIMPSE)
    glimpses = {index: _glimpse(items[index], full_length(items[index].text)) for index in indexes}
    picked: list[int] = []
    while fewest <= most:
        count = (fewest + most) // 2
        spread = sorted({indexes[round(step * (len(indexes) - 1) / (count - 1))] for step in range(count)})
        if LengthAccount(items, ((index, glimpses[index]) for index in spread)).spent <= room:
            picked, fewest = spread, count + 1
        else:
            most = count - 1
    spans = {index: ends(items[index].text, glimpses[index]) for index in picked}
    return Choice.of(spans, reason="one of many, evenly spread") if spans else first_and_last(items, room)


def _visible(item: Item, size: int) -> int:
    of_side_effects = shown_length(item.text, merged(item.side_effects)) if item.side_effects else 0
    return min(size, max(VISIBLE + 3 * longest_closing(item.text), of_side_effects))


def _glimpse(item: Item, size: int) -> int:
    return min(size, GLIMPSE + len(mark(size)) + 3 * longest_closing(item.text))


def first_and_last(items: Items, room: int) -> Choice:
    """Show the first and the last item in half the room each, or neither."""
    picked = sorted({0, len(items) - 1})
    frame = LengthAccount(items)
    for index in picked:
        frame.take(index, 0)
    each = (room - frame.spent) // len(picked)
    spans = {index: ends(items[index].text, each) for index in picked}
    return Choice.of(spans, reason="first or last") if all(spans.values()) else Choice()


_LEAST_EFFECT = 16
SideEffect = tuple[int, Span]


def side_effects_in(items: Sequence[Item], *, but: Collection[int]) -> list[SideEffect]:
    """Return the side effects of *items*, the last first, without the items at *but*."""
    return [
        (index, side_effect)
        for index in range(len(items) - 1, -1, -1)
        if items[index].side_effects and index not in but
        for side_effect in reversed(items[index].side_effects)
    ]


def take_side_effects(
    items: Sequence[Item], side_effects: Sequence[SideEffect], account: LengthAccount, most: int
) -> tuple[dict[int, tuple[Span, ...]], bool]:
    """Return the spans of the side effects that fit, in order, and whether all do."""
    limit = account.spent + most
    taken: dict[int, tuple[Span, ...]] = {}
    count = 0
    for index, side_effect in side_effects:
        if limit - account.spent < _LEAST_EFFECT:
            break
        text, before = items[index].text, taken.get(index, ())
        spans = merged((*before, side_effect))
        more = shown_length(text, spans) - (shown_length(text, before) if before else 0)
        if account.spent + account.cost(index, more) <= limit:
            account.take(index, more)
            taken[index] = spans
            count += 1
    return taken, count == len(side_effects)
