"""What has to survive, whatever else does: what people said and decided, and how it began and ended.

The promises are tried from the best to the least, and the first that the room can keep is kept:

1. every user and decision turn, the first and the last item and the assistant's last words are whole;
2. user and decision turns are whole, the others visible, at `VISIBLE` characters or, failing that, at `GLIMPSE`;
3. all of them are visible, at `VISIBLE` or at `GLIMPSE`; where two people talk, glimpses tell nothing, and only the
   first and the last have a floor;
4. the first, the last, and as many as there is room for, evenly spread.

Most of the room that a promise leaves goes to those that were cut, in proportion to their weights.
"""

from collections.abc import Iterator, Sequence

from nous.excerpt.choice import Choice
from nous.excerpt.items import PERSONAL, Item, Role
from nous.excerpt.layout import Ledger
from nous.excerpt.spans import ends, full_length, mark
from nous.excerpt.talk import is_talk
from nous.excerpt.water import Claim, shares

VISIBLE = 160
GLIMPSE = 24
FLOOR_SHARE = 0.75
"""How much of the room that a promise leaves goes to those it cut; the rest is for errors and for coverage."""

SHARE_OF_EACH = 0.15
"""How much of the room errors, compaction summaries and sub-agents may each take of what the promises leave."""

_FIRST_USER, _LAST_USER, _USER, _FINAL, _DECISION, _OTHER = 14.0, 12.0, 10.0, 14.0, 9.0, 6.0


def floor(items: Sequence[Item], room: int) -> Choice:
    """The best promise that *room* can keep, and room for errors and compaction summaries if some is left."""
    weights = _weights(items)
    for owed in _promises(items, weights):
        kept = _kept(items, owed, weights=weights, room=room)
        if kept is not None:
            return _with_errors_and_summaries(items, kept, room)
    return _spread(items, sorted(weights), room)


def _weights(items: Sequence[Item]) -> dict[int, float]:
    """The items that have a floor, and how much each counts."""
    users = [index for index, item in enumerate(items) if item.role is Role.USER]
    finals = [index for index, item in enumerate(items) if item.role is Role.ASSISTANT][-1:]
    weights = dict.fromkeys((0, len(items) - 1), _OTHER)
    weights |= {index: _DECISION for index, item in enumerate(items) if item.role is Role.DECISION}
    weights |= (
        dict.fromkeys(users, _USER) | dict.fromkeys(users[-1:], _LAST_USER) | dict.fromkeys(users[:1], _FIRST_USER)
    )
    return weights | dict.fromkeys(finals, _FINAL)


def _promises(items: Sequence[Item], weights: dict[int, float]) -> Iterator[dict[int, int]]:
    """What each item with a floor is owed, in characters."""
    sizes = {index: full_length(items[index].text) for index in sorted(weights)}
    glimpses = {index: min(size, GLIMPSE + len(mark(size))) for index, size in sizes.items()}
    visible = {index: min(size, VISIBLE) for index, size in sizes.items()}
    personal = {index: size for index, size in sizes.items() if items[index].role in PERSONAL}
    yield from (sizes, visible | personal, glimpses | personal, visible)
    yield glimpses if not is_talk(items) else {index: glimpses[index] for index in (0, len(items) - 1)}


def _kept(items: Sequence[Item], owed: dict[int, int], *, weights: dict[int, float], room: int) -> Choice | None:
    """The choice that gives everyone at least what is *owed*, or None if that takes more than *room*."""
    ledger = Ledger(items)
    for index, characters in owed.items():
        ledger.take(index, characters)
    spare = room - ledger.spent
    if spare < 0:
        return None
    claims = [Claim(weights[i], owed[i], full_length(items[i].text)) for i in owed]
    given = dict(zip(owed, shares(claims, sum(owed.values()) + int(spare * FLOOR_SHARE)), strict=True))
    spans = {index: ends(items[index].text, characters) for index, characters in given.items()}
    return Choice(spans, dict.fromkeys(spans, "has a floor"))


def _with_errors_and_summaries(items: Sequence[Item], choice: Choice, room: int) -> Choice:
    for role in (Role.ERROR, Role.SUMMARY, Role.SUB_AGENT):
        choice = _with_latest(items, choice, role=role, room=room)
    return choice


def _with_latest(items: Sequence[Item], choice: Choice, *, role: Role, room: int) -> Choice:
    """*choice* and the last items of *role*, as many as fit into what is left and into their share."""
    ledger = Ledger.exact(items, choice.spans)
    limit = min(room, ledger.spent + int(SHARE_OF_EACH * room))
    for index in reversed(range(len(items))):
        if items[index].role is not role or index in choice.spans:
            continue
        left = limit - ledger.spent - ledger.cost(index, 0)
        if spans := ends(items[index].text, left):
            ledger.take(index, min(left, full_length(items[index].text)))
            choice = choice.with_item(index, spans, f"among the last of {role.value.lower()}")
    return choice


def _spread(items: Sequence[Item], indexes: Sequence[int], room: int) -> Choice:
    """As many of *indexes* as fit, the first and the last among them, evenly spread, each at a glimpse."""
    fewest, most = 2, len(indexes)
    best = Choice()
    while fewest <= most:
        count = (fewest + most) // 2
        picked = {indexes[round(step * (len(indexes) - 1) / (count - 1))] for step in range(count)}
        spans = {i: ends(items[i].text, GLIMPSE + len(mark(len(items[i].text)))) for i in sorted(picked)}
        if Ledger.exact(items, spans).spent <= room:
            best, fewest = Choice(spans, dict.fromkeys(spans, "one of many, evenly spread")), count + 1
        else:
            most = count - 1
    return best if best.spans else first_and_last(items, room)


def first_and_last(items: Sequence[Item], room: int) -> Choice:
    """The first and the last item in half the room each; an empty choice if that shows nothing of them."""
    picked = sorted({0, len(items) - 1})
    frame = Ledger(items)
    for index in picked:
        frame.take(index, 0)
    each = (room - frame.spent) // len(picked)
    spans = {index: ends(items[index].text, each) for index in picked}
    return Choice(spans, dict.fromkeys(spans, "first or last")) if all(spans.values()) else Choice()
