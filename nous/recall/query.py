"""What is looked for: its words, its meaning and the files that it names."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import punctuation
from typing import TYPE_CHECKING

from nous.errors import NousError
from nous.language import words
from nous.recall.files import Path, files_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_IDENTIFIER = re.compile(r"[\x00-\x7f]*[\d@][\x00-\x7f]*")
"""In ASCII, as a script without spaces writes whole sentences so. Names without a digit, such as `LastPrompt` and
`src/ingest.rs`, are words, which have a meaning (tests/benchmarks/search.py).
"""

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""`Embedder.embed`."""


@dataclass(frozen=True, eq=False)
class Query:
    """A text, and its vector, without which words and files alone find something.

    *lacks* says why there is none, where there should be one.
    """

    text: str
    vector: "Vector | None" = None
    lacks: str | None = None

    @cached_property
    def files(self) -> tuple[Path, ...]:
        return files_named(self.text)


def asked(text: str, embed: Embed | None) -> Query:
    """*text* as a query. An embedder that does not answer, or is not there, is done without.

    None is asked about mere identifiers and numbers: those that look alike are near each other, and mean nothing.
    """
    text = text.encode("utf-8", "replace").decode()  # half a character, as a cut made it, has no place in any index
    if not text.strip() or _is_identifiers(text):
        return Query(text)
    if embed is None:
        return Query(text, lacks="there is no embedder")
    try:
        return Query(text, vector=embed([text])[0])
    except NousError as error:
        return Query(text, lacks=str(error))


def _is_identifiers(text: str) -> bool:
    """Whether *text* has identifiers and numbers, and no word of a language besides but such as say nothing."""
    bare = (word.strip(punctuation) for word in text.split())
    said = [word for word in bare if word and word.casefold() not in words().sets["stopwords"]]
    return bool(said) and all(map(_IDENTIFIER.fullmatch, said))
