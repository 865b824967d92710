"""What is looked for: its words, its meaning and the files that it names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nous.errors import NousError
from nous.recall.files import Path, files_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""`Embedder.embed`."""


@dataclass(frozen=True, eq=False)
class Query:
    """A text, and its vector. Where there is none, *lacks* says why: then meaning finds nothing, words and files do."""

    text: str
    vector: "Vector | None" = None
    lacks: str | None = None

    @cached_property
    def files(self) -> tuple[Path, ...]:
        return files_named(self.text)


def asked(text: str, embed: Embed | None) -> Query:
    """*text* as a query. An embedder that does not answer, or is not there, is done without."""
    text = text.encode("utf-8", "replace").decode()  # half a character, as a cut made it, has no place in any index
    if not text.strip():
        return Query(text)
    if embed is None:
        return Query(text, lacks="there is no embedder")
    try:
        return Query(text, vector=embed([text])[0])
    except NousError as error:
        return Query(text, lacks=str(error))
