"""A text as judging sees it."""

from dataclasses import dataclass, field
from functools import cached_property

from nous.learning.equivalence.reading import Reading, read
from nous.learning.normalise import exact_form


@dataclass(frozen=True)
class Statement:
    """A text and what it is about, with what judging needs of it; each part is computed once, when it is asked for."""

    text: str
    subject: str = field(default="", compare=False)

    @cached_property
    def form(self) -> str:
        return exact_form(self.text)

    @cached_property
    def reading(self) -> Reading:
        return read(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word.key for word in self.reading.words if word.key.isdecimal())
