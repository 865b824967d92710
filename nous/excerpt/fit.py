"""Build an excerpt of a transcript that never exceeds its budget."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from nous.domain.errors import BadInput
from nous.domain.summary_input import BETWEEN, Segment
from nous.excerpt.calls import call_outcomes
from nous.excerpt.extract_items import items_of
from nous.excerpt.file_names import Files, files_line, files_written, naming, room_for_files
from nous.excerpt.items import Items, Role, no_label
from nous.excerpt.layout import fits_whole, laid_out, length_of, text_of, whole
from nous.excerpt.strategies import named
from nous.excerpt.strategy import Choice, Manifest, ManifestEntry, Strategy, manifest_of
from nous.excerpt.tool_outputs import OUTPUTS_AT_MOST, with_outputs
from nous.text.sentences import TICKS
from nous.text.token_estimate import Counter, estimate
from nous.transcript.model import Transcript
from nous.transcript.tool_actions import actions_of

BUDGET = 8000
"""Default budget in characters."""

Unit = Literal["chars", "tokens"]

_ROUNDS = 10
_CLOSE_ENOUGH = 97
"""Percentage of a token budget at which the search ends."""


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
    """A prepared transcript: its items, entries that are not items, and files written."""

    transcript: Transcript
    items: Items
    left_out: tuple[ManifestEntry, ...]
    files: Files


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    items: Items
    choice: Choice
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        return text_of(self.segments)


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
    said fits, it is included whole. The budget is in characters, or in tokens as *count* counts them. Deterministic:
    the same arguments give the same excerpt.

    Raises:
        BadInput: the budget is negative, or there is no such strategy or unit.
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
    shown = {entry for item in fitted.items for entry in item.entries}
    left_out = [record for record in material.left_out if shown.isdisjoint(record.entries)]
    manifest = manifest_of(fitted.items, left_out, fitted.choice, strategy=strategy, budget=budget, unit=unit)
    return Excerpt(segments=fitted.segments, manifest=manifest)


def material_of(transcript: Transcript) -> Material:
    """Prepare *transcript* for excerpts."""
    actions = actions_of(transcript)
    names, outcomes = naming(transcript, actions.values()), call_outcomes(transcript)
    items, left_out = items_of(transcript, actions, names, outcomes)
    files = files_written(actions.values(), names, outcomes.of_calls)
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
    shown = (Segment(text, str(items[0].role), items[0].turn),) if text else ()
    return _Fitted(items=items, choice=bare, segments=shown)


def _fitted_by_tokens(material: Material, budget: int, strategy: Strategy, count: Counter) -> _Fitted:
    """Search for the character budget that gives nearly *budget* tokens, and never more."""
    said = length_of(material.items)
    best = _fitted(material, 0, strategy)
    fits, exceeds = 0, said + OUTPUTS_AT_MOST * len(material.transcript.entries) + 1
    likely = [said, exceeds - 1]  # popped from the end: first everything, then everything that was said
    for _ in range(_ROUNDS):
        characters = likely.pop()
        fitted = _fitted(material, characters, strategy)
        tokens = count(fitted.text)
        if tokens <= budget:
            best, fits = fitted, characters
            if tokens * 100 >= _CLOSE_ENOUGH * budget:
                break
        else:
            exceeds = characters
        if exceeds - fits <= 1:
            break
        if not likely:
            guess = len(fitted.text) * budget // tokens if tokens else exceeds
            likely = [min(max(guess, fits + (exceeds - fits) // 16, fits + 1), exceeds - 1)]
    return best
