"""What a text is read into, word by word."""

from dataclasses import dataclass
from enum import Enum, auto

ONE = "1"
"""A count that an article says as well, so that it is weighed with the words, not with the quantities."""


Bound = tuple[str, str]
"""A small word that stands before a word with content, after the kind of small words it is of."""


class Role(Enum):
    """What a word is: a name and a quantity have to be the same to the letter."""

    WORD = auto()
    NAME = auto()
    QUANTITY = auto()


class Tense(Enum):
    """`ASIDE` is the present of `which is kept`, which the participle alone may stand for."""

    PAST = auto()
    PRESENT = auto()
    ASIDE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word with content. `root` is what its forms share, `key` what those of its synonyms do, too.

    `marker` is the preposition it stands under, `be` for what follows a form of that verb, and empty where neither
    precedes. `clause` is the conjunction that opens the clause it is in. The word `opens` a phrase, is `joined` to the
    one before by `and`, or follows `a` (`is_one`). It `is_told` which one, as in
    `the code`. `bound` are the small words between it and the word before.
    """

    text: str
    key: str
    role: Role
    root: str = ""
    marker: str = ""
    tense: Tense | None = None
    is_doubt: bool = False
    clause: str = ""
    opens: bool = False
    joined: bool = False
    is_one: bool = False
    is_told: bool = False
    bound: tuple[Bound, ...] = ()

    @property
    def is_plural(self) -> bool:
        """Whether it ends as nouns do of which there are several."""
        return self.text.casefold().endswith("s") and not self.text.endswith(("ss", "us", "is"))


@dataclass(frozen=True, slots=True)
class Frame:
    """A statement as subject and predicate: the words before its verb, counted, and that verb's root.

    `be` and `have` carry no content and are not among the words; of an auxiliary, the verb is what follows.
    """

    subject: int
    verb: str
