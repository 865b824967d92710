"""Split a long session into several excerpts, each with its own budget.

Together they cover the whole session.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import accumulate, pairwise
from math import ceil

from nous.domain.errors import BadInput
from nous.domain.summary_input import BETWEEN, Segment
from nous.excerpt.fit import BUDGET, Excerpt, Unit, fit, material_of
from nous.excerpt.items import Item, Role
from nous.excerpt.layout import label, label_length, text_of
from nous.excerpt.spans import ends, shown
from nous.text.token_estimate import Counter, estimate
from nous.transcript.load import parse_transcript
from nous.transcript.model import Transcript

ONE_PASS = 4
"""Maximum text, in budgets, for which one excerpt holds everything that matters."""

PER_WINDOW = 3
"""Text, in budgets, that each of several windows covers if there are enough windows."""

MOST = 8
CONTEXT_SHARE = 0.15
"""Maximum share of a window's budget for what came before it."""

_LEAST_CONTEXT = 80
_BEGAN = "[The session began with] "
_BEFORE = "[Just before] "


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptWindow:
    """Part of a session, with an excerpt that begins with a short context."""

    transcript: Transcript
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Windows of a session; *wanted* is how many would cover `PER_WINDOW` budgets each."""

    windows: tuple[ExcerptWindow, ...]
    wanted: int

    @property
    def chars(self) -> int:
        return sum(window.excerpt.chars for window in self.windows)

    @property
    def digest(self) -> str:
        """sha256 of the excerpt, in hex; of several excerpts, of their digests in order."""
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
    """Split *transcript* into at most *most* windows; into one up to `ONE_PASS` budgets.

    Windows begin at a turn, unless a turn is longer than a window. Every window but the first begins with context: the
    start of the session and the turn before it, cut to `CONTEXT_SHARE`. So each can be read alone.

    Raises:
        BadInput: as `fit`, and if *most* is less than 1.
    """
    if most < 1:
        raise BadInput(f"at most {most} windows: it has to be 1 or more")
    items = material_of(transcript).items
    measure = len if unit == "chars" else count
    lengths = [min(budget, measure(f"{label(item)}{item.text}{BETWEEN}")) for item in items]
    wanted = ceil(sum(lengths) / max(1, PER_WINDOW * budget)) if sum(lengths) > ONE_PASS * budget else 1
    starts = _starts(items, lengths, transcript, min(wanted, most)) if wanted > 1 else []
    if not starts:
        excerpt = fit(transcript, budget, strategy=strategy, unit=unit, count=count)
        return Windows(windows=(ExcerptWindow(transcript=transcript, excerpt=excerpt),), wanted=wanted)
    bounds = pairwise([0, *(items[start].at for start in starts), len(transcript.entries)])
    parts = [replace(transcript, entries=transcript.entries[begin:end]) for begin, end in bounds]
    per_unit = 1 if unit == "chars" else sum(len(item.text) for item in items) / max(1, sum(lengths))
    contexts = [(), *(_context(items, start, int(budget * CONTEXT_SHARE * per_unit)) for start in starts)]
    made: list[ExcerptWindow] = []
    for number, (part, context) in enumerate(zip(parts, contexts, strict=True), start=1):
        heading = (Segment(f"[Part {number} of {len(parts)}]"), *context)
        excerpt = _below(heading, part, budget, strategy=strategy, unit=unit, count=count)
        made.append(ExcerptWindow(transcript=part, excerpt=excerpt))
    return Windows(windows=tuple(made), wanted=wanted)


def _starts(items: Sequence[Item], lengths: Sequence[int], transcript: Transcript, count: int) -> list[int]:
    """Return where later windows begin: near equal shares, at the start of a turn if possible."""
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


def _context(items: Sequence[Item], start: int, room: int) -> tuple[Segment, ...]:
    """Return what came before *start* in *room* characters; empty if of no use."""
    if room < _LEAST_CONTEXT:
        return ()
    before = items[:start]
    asked = next((item for item in reversed(before) if item.role is Role.USER), None)
    answered = next((item for item in reversed(before) if item.role is Role.ASSISTANT), None)
    quoted = [(_BEGAN, items[0]), *((_BEFORE, item) for item in (asked, answered) if item and item is not items[0])]
    each = room // len(quoted)
    lines = (_briefly(lead, item, each - len(BETWEEN)) for lead, item in quoted)
    return tuple(line for line in lines if line)


def _briefly(lead: str, item: Item, room: int) -> Segment | None:
    spans = ends(item.text, room - len(lead) - label_length(item))
    text = f"{lead}{label(item)}{shown(item.text, spans)}"
    return Segment(text, str(item.role), item.turn) if spans else None


def _below(
    heading: tuple[Segment, ...], part: Transcript, budget: int, *, strategy: str, unit: Unit, count: Counter
) -> Excerpt:
    """Fit *part* below *heading*; without it if it leaves less than half of the budget."""
    measure = len if unit == "chars" else count
    room = budget - measure(text_of(heading) + BETWEEN)
    while room >= budget / 2:
        excerpt = fit(part, room, strategy=strategy, unit=unit, count=count)
        below = Excerpt(segments=(*heading, *excerpt.segments), manifest=replace(excerpt.manifest, budget=budget))
        excess = measure(below.text) - budget
        if excess <= 0:
            return below
        room -= excess
    return fit(part, budget, strategy=strategy, unit=unit, count=count)


def truncate_transcript(text: str, max_chars: int = BUDGET) -> str:
    """Return *text* if it has at most *max_chars* characters, else what `fit` keeps of it.

    Text without recognizable turns keeps its beginning and its end.

    Raises:
        BadInput: *max_chars* is negative.
    """
    if len(text) <= max_chars:
        return text
    if max_chars < 0:
        raise BadInput(f"a budget of {max_chars} characters: it has to be 0 or more")
    with suppress(BadInput):  # text without turns
        transcript = parse_transcript(text)
        if len(transcript.entries) > 1:
            return fit(transcript, max_chars).text
    return shown(text, spans) if (spans := ends(text, max_chars)) else text[:max_chars]
