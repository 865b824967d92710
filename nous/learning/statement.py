"""A text as judging sees it."""

from dataclasses import dataclass
from functools import cached_property

from nous.learning.guard.lexicon import english
from nous.learning.guard.reading import Reading, read
from nous.learning.normalise import exact_form


@dataclass(frozen=True)
class Statement:
    """A text, with what judging needs of it; each part is computed when it is first asked for, and kept."""

    text: str

    @cached_property
    def form(self) -> str:
        return exact_form(self.text)

    @cached_property
    def reading(self) -> Reading:
        return read(self.text, english())
