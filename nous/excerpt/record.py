"""What became of one piece of a transcript."""

from typing import NamedTuple


class Record(NamedTuple):
    """The entries that it stands for, its length in characters, how much of it is shown, and why.

    `score` is what the strategy thought it worth, in units of its own; 0 where it did not weigh it.
    """

    entries: tuple[str, ...]
    role: str
    chars: int
    shown: int
    reason: str
    score: float = 0.0
