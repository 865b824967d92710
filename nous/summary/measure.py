"""Whether a summary has the size that was asked for. It is measured, and never cut to it."""

from collections.abc import Iterator

from nous.episode import Summary
from nous.prose import sentences

TITLE, SUMMARY = (5, 10), (100, 150)
"""The fewest and the most words."""


def off_size(summary: Summary) -> Iterator[str]:
    """The names of what is not of the size that was asked for. A summary may be shorter: some sessions say little."""
    fewest, most = TITLE
    if not fewest <= len(summary.title.split()) <= most:
        yield "title"
    if len(summary.summary.split()) > SUMMARY[1]:
        yield "summary"
    if len(list(sentences(summary.outcome_rationale))) != 1:
        yield "rationale"
