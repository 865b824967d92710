"""A session too long for one excerpt, in several: each with a budget of its own, and together the whole session."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import accumulate, pairwise
from math import ceil

from nous.domain.errors import BadInput
from nous.domain.summary_input import BETWEEN, Passage
from nous.excerpt.fit import BUDGET, Excerpt, Unit, fit, material_of
from nous.excerpt.items import Item, Role
from nous.excerpt.layout import label, label_length, text_of
from nous.excerpt.spans import ends, shown
from nous.text.token_estimate import Counter, estimate
from nous.transcript.load import parse_transcript
from nous.transcript.model import Transcript

ONE_PASS = 4
"""Up to so many budgets of what was said, one excerpt has what matters; above, it cannot."""

PER_WINDOW = 3
"""How many budgets of what was said one of several windows covers, if there are enough windows."""

MOST = 8
CONTEXT_SHARE = 0.15
"""How much of a window's budget may tell what came before it."""

_LEAST_CONTEXT = 80
_BEGAN = "[The session began with] "
_BEFORE = "[Just before] "


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A part of a session: its entries, and what of them fits the budget, with what came before in short."""

    transcript: Transcript
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """The windows of a session in order. *wanted* is how many it takes for each to cover `PER_WINDOW` budgets at most.

    Where more are wanted than there are, each covers more and keeps less of it.
    """

    windows: tuple[Window, ...]
    wanted: int

    @property
    def chars(self) -> int:
        return sum(window.excerpt.chars for window in self.windows)

    @property
    def digest(self) -> str:
        """sha256 of the excerpt, in hex; where there are several, of their digests in order."""
        digests = [window.excerpt.digest for window in self.windows]
        return digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()


def windows(
    transcript: Transcript,
    budget: int = BUDGET,
    *,
    most: int = MOST,
    strategy: str = "default",
    unit: Unit = "chars",
    count: Counter = estimate,
) -> Windows:
    """*transcript* in as many windows as it takes, at most *most*; a single one up to `ONE_PASS` budgets.

    They begin where a turn does, unless a turn is longer than a window. Every one but the first begins with what the
    session began with and with the turn before it, cut to `CONTEXT_SHARE`, so that none has to be read alone.

    Raises:
        BadInput: as `fit` does, and if *most* is less than 1.
    """
    if most < 1:
        raise BadInput(f"at most {most} windows: it has to be 1 or more")
    items = material_of(transcript).items
    measure = _measure(unit, count)
    lengths = [min(budget, measure(f"{label(item)}{item.text}{BETWEEN}")) for item in items]
    wanted = _wanted(sum(lengths), budget)
    starts = _starts(items, lengths, transcript, min(wanted, most)) if wanted > 1 else []
    if not starts:
        excerpt = fit(transcript, budget, strategy=strategy, unit=unit, count=count)
        return Windows(windows=(Window(transcript=transcript, excerpt=excerpt),), wanted=wanted)
    parts = _cut(transcript, [items[start].at for start in starts])
    per_unit = 1 if unit == "chars" else sum(len(item.text) for item in items) / max(1, sum(lengths))
    contexts = [(), *(_context(items, start, int(budget * CONTEXT_SHARE * per_unit)) for start in starts)]
    made: list[Window] = []
    for number, (part, context) in enumerate(zip(parts, contexts, strict=True), start=1):
        heading = (Passage(f"[Part {number} of {len(parts)}]"), *context)
        excerpt = _below(heading, part, budget, strategy=strategy, unit=unit, count=count)
        made.append(Window(transcript=part, excerpt=excerpt))
    return Windows(windows=tuple(made), wanted=wanted)


def _measure(unit: Unit, count: Counter) -> Counter:
    return len if unit == "chars" else count


def _wanted(length: int, budget: int) -> int:
    return 1 if length <= ONE_PASS * budget else ceil(length / max(1, PER_WINDOW * budget))


def _starts(items: Sequence[Item], lengths: Sequence[int], transcript: Transcript, count: int) -> list[int]:
    """The items that the second and later windows begin with: near to where equal shares end, and best at a turn."""
    ends_at = list(accumulate(lengths, initial=0))
    share = ends_at[-1] / count
    turns = [transcript.entries[item.at].turn for item in items]
    begins = [False, *(after != before for before, after in pairwise(turns))]
    starts: list[int] = []
    for number in range(1, count):
        least = starts[-1] + 1 if starts else 1
        places = range(least, len(items) - (count - 1 - number))
        if places:
            away = [(abs(ends_at[place] - number * share), place) for place in places]
            of_turns = [one for one in away if begins[one[1]] and one[0] <= share / 2]
            starts.append(min(of_turns or away)[1])
    return starts


def _cut(transcript: Transcript, starts: Sequence[int]) -> list[Transcript]:
    """*transcript* in parts that begin with its first entry and with those at *starts*."""
    bounds = pairwise([0, *starts, len(transcript.entries)])
    return [replace(transcript, entries=transcript.entries[start:end]) for start, end in bounds]


def _context(items: Sequence[Item], start: int, room: int) -> tuple[Passage, ...]:
    """What came before the item at *start*, in at most *room* characters; nothing if that is too little to tell it."""
    if room < _LEAST_CONTEXT:
        return ()
    before = items[:start]
    asked = next((item for item in reversed(before) if item.role is Role.USER), None)
    answered = next((item for item in reversed(before) if item.role is Role.ASSISTANT), None)
    told = [(_BEGAN, items[0]), *((_BEFORE, item) for item in (asked, answered) if item and item is not items[0])]
    each = room // len(told)
    lines = (_briefly(lead, item, each - len(BETWEEN)) for lead, item in told)
    return tuple(line for line in lines if line)


def _briefly(lead: str, item: Item, room: int) -> Passage | None:
    spans = ends(item.text, room - len(lead) - label_length(item))
    text = f"{lead}{label(item)}{shown(item.text, spans)}"
    return Passage(text, str(item.role), item.turn) if spans else None


def _below(
    heading: tuple[Passage, ...], part: Transcript, budget: int, *, strategy: str, unit: Unit, count: Counter
) -> Excerpt:
    """What of *part* fits below *heading*; without the heading where that leaves less than half of the budget."""
    measure = _measure(unit, count)
    room = budget - measure(text_of(heading) + BETWEEN)
    while room >= budget / 2:
        excerpt = fit(part, room, strategy=strategy, unit=unit, count=count)
        below = Excerpt(passages=(*heading, *excerpt.passages), manifest=replace(excerpt.manifest, budget=budget))
        excess = measure(below.text) - budget
        if excess <= 0:
            return below
        room -= excess
    return fit(part, budget, strategy=strategy, unit=unit, count=count)


def truncate_transcript(text: str, max_chars: int = BUDGET) -> str:
    """*text* itself if it has at most *max_chars* characters, else what `fit` keeps of its turns.

    A text in which no turns are to be found keeps its beginning and its end.

    Raises:
        BadInput: *max_chars* is negative.
    """
    if len(text) <= max_chars:
        return text
    if max_chars < 0:
        raise BadInput(f"a budget of {max_chars} characters: it has to be 0 or more")
    transcript = _parsed(text)
    if transcript is not None and len(transcript.entries) > 1:
        return fit(transcript, max_chars).text
    return shown(text, spans) if (spans := ends(text, max_chars)) else text[:max_chars]


def _parsed(text: str) -> Transcript | None:
    try:
        return parse_transcript(text)
    except BadInput:
        return None
