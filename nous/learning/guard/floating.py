"""Phrases that may move, as `on Linux` may, and what stays in its order without them."""

from collections.abc import Sequence

from nous.learning.guard.placed import Placed, runs


def order(words: Sequence[Placed], other: Sequence[Placed]) -> list[int]:
    """The pairs that have to keep their order."""
    floating = _floating(words, other)
    return [word.pair for word in words if word.marker not in floating]


def positions_agree(left: Sequence[Placed], right: Sequence[Placed]) -> bool:
    """Whether each moving phrase follows the same word in both, or stands in both where it is about the whole."""
    floating = _floating(left, right)
    here, there = _positions(left, floating), _positions(right, floating)
    is_tied = {marker: _is_tied(marker, (*left, *right)) for marker in floating}
    edges = {marker: (_edge(here[marker], left, floating), _edge(there[marker], right, floating)) for marker in here}
    return all(
        here[marker] == there[marker]
        or (marker != "of" and _is_whole(*edges[marker], is_tied=is_tied[marker]))
        or (here[marker] == 0 and there[marker] == _joint(right, floating))
        or (there[marker] == 0 and here[marker] == _joint(left, floating))
        for marker in floating
    )


def _floating(words: Sequence[Placed], other: Sequence[Placed]) -> set[str]:
    """The prepositions whose phrase may move: each governs the same words, in one place, in both texts."""
    here, there = _phrases(words), _phrases(other)
    return {marker for marker, pairs in here.items() if there.get(marker) == pairs}


def _phrases(words: Sequence[Placed]) -> dict[str, tuple[int, ...]]:
    governed = [run for run in runs(words) if not run[0].is_free]
    markers = [run[0].marker for run in governed]
    return {
        marker: tuple(word.pair for word in run)
        for marker, run in zip(markers, governed, strict=True)
        if markers.count(marker) == 1
    }


def _positions(words: Sequence[Placed], floating: set[str]) -> dict[str, int]:
    """How many words of fixed place stand before each moving phrase; for `of`, which one does, whatever its place."""
    before, positions = 0, dict[str, int]()
    for at, word in enumerate(words):
        if word.marker == "of" and at and "of" in floating:
            positions.setdefault("of", -1 - words[at - 1].pair)
        elif word.marker in floating:
            positions.setdefault(word.marker, before)
        else:
            before += 1
    return positions


def _edge(position: int, words: Sequence[Placed], floating: set[str]) -> str:
    """Where in the clause a phrase at *position* is: first, last, or with the subject: `the limit for guests is 5`."""
    fixed = [word for word in words if word.marker not in floating]
    is_at = next((at for at, word in enumerate(fixed) if word.marker == "be"), 0)
    return {len(fixed): "last", is_at: "subject", 0: "first"}.get(position, "")


def _is_whole(one: str, other: str, *, is_tied: bool) -> bool:
    """Whether a phrase at each of two edges is about the whole. One that `is_tied` to the subject may be so nowhere."""
    return bool(one and other) and not (is_tied and {one, other} == {"subject", "last"})


def _is_tied(marker: str, words: Sequence[Placed]) -> bool:
    """Whether a phrase behind the subject tells which is meant, and behind the verb where it is done, or how.

    As in `users in Lyon are banned`, and wherever it is told who acts: `users in Lyon are led by teams`, who is there?
    """
    if any(word.marker == "by" for word in words):
        return True
    is_done = any(word.marker == "be" and word.is_participle for word in words)
    is_exact = all(word.is_exact for word in words if word.marker == marker)
    has_value = marker == "for" and any(word.is_exact for word in words)  # the limit for guests is set to 5
    return is_done and not is_exact and not has_value


def _joint(words: Sequence[Placed], floating: set[str]) -> int | None:
    """The end of a first clause: `on Fridays the team tests and deploys` is `the team tests on Fridays and deploys`."""
    fixed = [word for word in words if word.marker not in floating]
    return next((at for at, word in enumerate(fixed) if word.joined), None)
