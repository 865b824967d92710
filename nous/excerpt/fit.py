"""Build one or more excerpts of a transcript, each within a character or token budget."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import accumulate, pairwise
from math import ceil
from typing import Literal

from nous.domain.errors import BadInput
from nous.domain.summary_input import BETWEEN, Segment
from nous.excerpt.extract_items import call_outcomes, items_of
from nous.excerpt.file_names import files_line, files_written, naming, room_for_files
from nous.excerpt.items import Item, Items, Role, no_label
from nous.excerpt.layout import ends, fits_whole, label, laid_out, length_of, shown, text_of, whole
from nous.excerpt.strategies import named
from nous.excerpt.strategy import Choice, Manifest, ManifestEntry, Strategy, manifest_of
from nous.excerpt.tool_outputs import OUTPUTS_AT_MOST, with_outputs
from nous.text.sentences import TICKS
from nous.text.token_estimate import Counter, estimate
from nous.transcript.load import parse_transcript
from nous.transcript.model import Transcript
from nous.transcript.tool_actions import actions_of

BUDGET = 8000
Unit = Literal["chars", "tokens"]

_ROUNDS = 10
_CLOSE_ENOUGH = 97  # percentage of a token budget at which the search ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Excerpt of a session for a summarizer, and the manifest of what it omits."""

    segments: tuple[Segment, ...]
    manifest: Manifest

    @property
    def text(self) -> str:
        return text_of(self.segments)

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def digest(self) -> str:
        """sha256 of the text, in hex."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    transcript: Transcript
    items: Items
    left_out: tuple[ManifestEntry, ...]
    files: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    items: Items
    choice: Choice
    segments: tuple[Segment, ...]


def fit(
    transcript: Transcript,
    budget: int = BUDGET,
    *,
    strategy: str = "default",
    unit: Unit = "chars",
    count: Counter = estimate,
) -> Excerpt:
    """Return the most informative part of *transcript* that fits into *budget*.

    The excerpt is in chronological order, with a mark for every gap. Labels and marks count. If everything that was
    said fits, it is included whole. The budget is in characters, or in tokens as *count* counts them. Deterministic.
    Raises `BadInput` if the budget is negative, or there is no such strategy or unit.
    """
    if budget < 0:
        raise BadInput(f"a budget of {budget} {unit}: it has to be 0 or more")
    chosen, material = named(strategy), material_of(transcript)
    match unit:
        case "chars":
            fitted = _fitted(material, budget, chosen)
        case "tokens":
            fitted = _fitted_by_tokens(material, budget, chosen, count)
        case _:
            raise BadInput(f"{unit!r} is not a unit: choose chars or tokens")
    held = {entry for item in fitted.items for entry in item.entries}
    left_out = [record for record in material.left_out if held.isdisjoint(record.entries)]
    manifest = manifest_of(fitted.items, left_out, fitted.choice, strategy=strategy, budget=budget, unit=unit)
    return Excerpt(segments=fitted.segments, manifest=manifest)


def material_of(transcript: Transcript) -> Material:
    actions = actions_of(transcript)
    names, (outcomes, failures) = naming(transcript, actions.values()), call_outcomes(transcript)
    items, left_out = items_of(transcript, actions, names, outcomes, failures)
    files = files_written(actions.values(), names, outcomes)
    return Material(transcript=transcript, items=items, left_out=left_out, files=files)


def _fitted(material: Material, budget: int, strategy: Strategy) -> _Fitted:
    """Return all that was said plus tool outputs that fit, or else what *strategy* chooses."""
    items = material.items
    if not fits_whole(items, budget):
        heading = files_line(material.files, room_for_files(items, budget))
        return _chosen(items, strategy, budget=budget, heading=heading)
    both = with_outputs(items, material.transcript, budget - length_of(items)) if strategy.add else items
    if strategy.add is None or fits_whole(both, budget):
        everything = Choice.of(whole(both), reason="everything fits")
        return _Fitted(items=both, choice=everything, segments=laid_out(both, everything.spans))
    said = {index: spans for index, spans in whole(both).items() if both[index].role is not Role.OUTPUT}
    choice = strategy.add(both, Choice.of(said, reason="everything said fits"), budget)
    return _Fitted(items=both, choice=choice, segments=laid_out(both, choice.spans))


def _chosen(items: Items, strategy: Strategy, *, budget: int, heading: str) -> _Fitted:
    """Lay out what *strategy* chooses, or the bare beginning if it finds the budget too small."""
    room = budget - len(heading) - len(BETWEEN) * bool(heading)
    choice = strategy.choose(items, room)
    segments = laid_out(items, choice.spans, heading=heading)
    if choice.spans and len(text_of(segments)) <= budget:
        return _Fitted(items=items, choice=choice, segments=segments)
    text = no_label(items[0].text[:budget].replace(TICKS, "'" * len(TICKS)))  # no room to close a block
    bare = Choice.of({0: ((0, len(text)),)} if text else {}, reason="the budget is too small for more")
    segments = (Segment(text, str(items[0].role), items[0].turn),) if text else ()
    return _Fitted(items=items, choice=bare, segments=segments)


def _fitted_by_tokens(material: Material, budget: int, strategy: Strategy, count: Counter) -> _Fitted:
    """Search for the character budget that gives nearly *budget* tokens, and never more."""
    said = length_of(material.items)
    best = _fitted(material, 0, strategy)
    fits, exceeds = 0, said + OUTPUTS_AT_MOST * len(material.transcript.entries) + 1
    likely = [said, exceeds - 1]  # popped from the end: first everything, then everything that was said
    for _ in range(_ROUNDS):
        characters = likely.pop()
        fitted = _fitted(material, characters, strategy)
        text = text_of(fitted.segments)
        tokens = count(text)
        if tokens <= budget:
            best, fits = fitted, characters
            if tokens * 100 >= _CLOSE_ENOUGH * budget:
                break
        else:
            exceeds = characters
        if exceeds - fits <= 1:
            break
        if not likely:
            guess = len(text) * budget // tokens if tokens else exceeds
            likely = [min(max(guess, fits + (exceeds - fits) // 16, fits + 1), exceeds - 1)]
    return best


ONE_PASS = 4  # maximum text, in budgets, for which one excerpt holds everything that matters
PER_WINDOW = 3  # text, in budgets, that each of several windows covers if there are enough windows
MOST_WINDOWS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptWindow:
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
    most: int = MOST_WINDOWS,
    strategy: str = "default",
    unit: Unit = "chars",
    count: Counter = estimate,
) -> Windows:
    """Split *transcript* into at most *most* windows; into one up to `ONE_PASS` budgets.

    Windows begin at a turn, unless a turn is longer than a window. Raises `BadInput` as `fit` does, and if *most* is
    less than 1.
    """
    if most < 1:
        raise BadInput(f"at most {most} windows: it has to be 1 or more")
    items = material_of(transcript).items
    measure = len if unit == "chars" else count
    lengths = [min(budget, measure(f"{label(item)}{item.text}{BETWEEN}")) for item in items]
    wanted = ceil(sum(lengths) / max(1, PER_WINDOW * budget)) if sum(lengths) > ONE_PASS * budget else 1
    starts = _starts(items, lengths, transcript, min(wanted, most)) if wanted > 1 else []
    bounds = pairwise([0, *(items[start].at for start in starts), len(transcript.entries)])
    parts = [replace(transcript, entries=transcript.entries[begin:end]) for begin, end in bounds]
    made = [
        ExcerptWindow(transcript=part, excerpt=fit(part, budget, strategy=strategy, unit=unit, count=count))
        for part in parts
    ]
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


def truncate_transcript(text: str, max_chars: int = BUDGET) -> str:
    """Return *text* if it has at most *max_chars* characters, else what `fit` keeps of it.

    Text without recognizable turns keeps its beginning and its end. Raises `BadInput` if *max_chars* is negative.
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
