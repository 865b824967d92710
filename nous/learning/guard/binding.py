"""Whether the same small words stand before the same words, and whether what is left over is the contrary."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, product

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.pairing import Pairing
from nous.learning.guard.reading import Reading
from nous.learning.guard.word import Word

_MOST = 12
"""Words left over that are held against each other. Texts that differ in more are about other things."""

_ALWAYS = frozenset({"negation", "order", "quantifier", "modal", "preposition"})
"""The kinds of small words that are compared even where one text has none or always the same."""


def other_persons(left: Reading, right: Reading, lexicon: Lexicon) -> str | None:
    """Why one of them speaks of another: `we pay them`, `they pay us`. A person may be left out: `we test our code`."""
    del lexicon
    for place in dict.fromkeys(place for place, _ in left.persons):
        here, there = (
            [person for person, _ in groupby(person for at, person in side.persons if at == place)]
            for side in (left, right)
        )
        is_exact = len(set(here)) > 1 and len(set(there)) > 1
        if (is_exact and here != there) or any(one != other for one, other in zip(here, there, strict=False)):
            return f"another person: {' '.join(here)} / {' '.join(there)}"
    return None


def exchanged(found: Pairing) -> str | None:
    """Why small words are exchanged: `at most 4 workers and at least 8 GB`, `at least 4 workers and at most 8 GB`."""
    kinds = (_varied(found.left) & _varied(found.right)) | _ALWAYS
    for at, other in found.pairs:
        here, there = found.left[at], found.right[other]
        if any(kind in kinds for kind, _ in {*here.bound} ^ {*there.bound}):
            return f"other small words stand before {here.text}"
    return None


def opposed(left: Sequence[Word], right: Sequence[Word], lexicon: Lexicon) -> str | None:
    """Why what one says is the contrary of what the other says: `limited`, `unlimited`."""
    for one, other in product(left[:_MOST], right[:_MOST]):
        is_listed = frozenset((one.root, other.root)) in lexicon.values.opposites
        forms = ((one.root, other.root), (one.text.casefold(), other.text.casefold()))
        if is_listed or any(_is_denied(a, b) or _is_denied(b, a) for a, b in forms):
            return f"one says {one.text}, the other the contrary, {other.text}"
    return None


def _is_denied(root: str, contrary: str) -> bool:
    for prefix in ("un", "in", "im", "dis", "non"):
        rest = contrary.removeprefix(prefix)
        if len(rest) > 3 and rest != contrary and root.endswith(rest):
            return True
    return contrary.endswith("less") and len(contrary) > 6 and root.startswith(contrary.removesuffix("less"))


def _varied(words: Iterable[Word]) -> set[str]:
    """The kinds of which there are small words that differ."""
    kinds = Counter(kind for kind, _ in {bound for word in words for bound in word.bound})
    return {kind for kind, number in kinds.items() if number > 1}
