"""What a text says, as far as telling it from a near copy needs: the third step of reading it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.phrases import spelled_out
from nous.learning.guard.quantities import quantity_at
from nous.learning.guard.stem import stem
from nous.learning.guard.tokens import Shape, Token, tokens

_LAST_LATIN_LETTER = "\u024f"


class Role(Enum):
    """What a word is: a name and a quantity have to be the same to the letter."""

    WORD = auto()
    NAME = auto()
    QUANTITY = auto()


class Tense(Enum):
    PAST = auto()
    PRESENT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word with content. `key` is what its forms and synonyms share, `marker` the preposition it stands under.

    `marker` is `be` for what follows a form of that verb, and empty where neither precedes.
    """

    text: str
    key: str
    role: Role
    marker: str = ""
    tense: Tense | None = None
    is_doubt: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text, read. Everything is in the order of the text; `grammar` holds the small words that exclude others.

    `is_understood` is false for what is not in the lexicon's language: its words cannot be weighed.
    """

    words: tuple[Word, ...]
    quantities: tuple[str, ...]
    negated: tuple[str, ...]
    quantifiers: tuple[str, ...]
    modals: frozenset[str]
    grammar: frozenset[str]
    is_question: bool
    is_understood: bool


def read(text: str, lexicon: Lexicon) -> Reading:
    """Read *text* by the rules of *lexicon*."""
    pieces = tokens(text)
    scan = _Scan(lexicon, frozenset().union(*lexicon.exclusive))
    scan.take_all(spelled_out(pieces, lexicon))
    return Reading(
        words=tuple(scan.words),
        quantities=tuple(sorted(word.key for word in scan.words if word.role is Role.QUANTITY)),
        negated=tuple(sorted(scan.negated)),
        quantifiers=tuple(sorted(scan.quantifiers)),
        modals=frozenset(scan.modals),
        grammar=frozenset(scan.grammar),
        is_question=text.rstrip().endswith("?"),
        is_understood=_is_understood(text, pieces, lexicon),
    )


def _is_understood(text: str, pieces: Sequence[Token], lexicon: Lexicon) -> bool:
    if any(letter > _LAST_LATIN_LETTER and letter.isalpha() for letter in text):
        return False
    return not any(piece.lower in lexicon.foreign and (piece.starts or piece.text.islower()) for piece in pieces)


@dataclass(slots=True)
class _Scan:
    """One pass over the tokens, and what it remembers of the words before."""

    lexicon: Lexicon
    excluding: frozenset[str]
    words: list[Word] = field(default_factory=list[Word])
    negated: list[str] = field(default_factory=list[str])
    quantifiers: list[str] = field(default_factory=list[str])
    modals: set[str] = field(default_factory=set[str])
    grammar: set[str] = field(default_factory=set[str])
    marker: str = ""
    marker_is_used: bool = False
    auxiliary: str = ""
    negations: int = 0

    def take_all(self, pieces: Sequence[Token]) -> None:
        at = 0
        while at < len(pieces):
            quantity, length = quantity_at(pieces[at : at + 5], self.lexicon) or ("", 1)
            if quantity or pieces[at].shape is Shape.SYMBOL:
                self._add(pieces[at], Role.QUANTITY, quantity or pieces[at].lower)
            else:
                self._take_word(pieces[at], before=pieces[at + 1] if at + 1 < len(pieces) else None)
            at += length
            if pieces[at - 1].ends:
                self._end_phrase()
        self.negated.extend("" for _ in range(self.negations))

    def _take_word(self, piece: Token, before: Token | None) -> None:
        lexicon, word = self.lexicon, piece.lower
        is_period = before is not None and before.lower.removesuffix("s") in lexicon.periods
        small = lexicon.canonical.get(word, word)
        if _is_letter_as_name(piece):
            self._add(piece, Role.NAME, word)
            return
        if small in self.excluding:
            self.grammar.add(small)
        if word in lexicon.negators:
            self.negations += 1
        elif word in lexicon.quantifiers or "_" in word:
            self.quantifiers.append(lexicon.quantifiers.get(word, word))
            if is_period:
                self.marker, self.marker_is_used = "every", False
        elif word in lexicon.modals:
            self.modals.add(lexicon.modals[word])
            self.auxiliary = "modal"
        elif word in lexicon.prepositions:
            self.marker, self.marker_is_used = small, False
        elif word in lexicon.function:
            self._take_function_word(small)
        elif _is_name(piece):
            self._add(piece, Role.NAME, lexicon.same.get(word, word))
        else:
            self._add(piece, Role.WORD, lexicon.key(word))

    def _take_function_word(self, word: str) -> None:
        if word in ("and", "or"):
            return
        if word in _AUXILIARIES:
            self.auxiliary = _AUXILIARIES[word]
            self.marker, self.marker_is_used = ("be", False) if self.auxiliary in ("is", "was") else ("", False)
        elif self.marker_is_used:
            self.marker, self.marker_is_used = "", False

    def _add(self, piece: Token, role: Role, key: str) -> None:
        word = piece.lower
        tense = self._tense(word) if role is Role.WORD else None
        base = stem(self.lexicon.bases.get(word, word))
        is_doubt = role is Role.WORD and base in self.lexicon.doubts
        self.words.append(Word(text=piece.text, key=key, role=role, marker=self.marker, tense=tense, is_doubt=is_doubt))
        self.negated.extend(key for _ in range(self.negations))
        self.negations = 0
        self.auxiliary = ""
        self.marker_is_used = True
        if self.marker == "every" or (role is Role.QUANTITY and not _may_count(key)):
            self._end_phrase()

    def _tense(self, word: str) -> Tense | None:
        """When the verb *word* says it is; None where it may be a participle, an infinitive or a noun."""
        is_past = word in self.lexicon.pasts or word in self.lexicon.participles or _ends_in_ed(word)
        if self.auxiliary in ("is", "was"):
            return Tense.PAST if self.auxiliary == "was" else Tense.PRESENT
        if self.auxiliary == "modal" or (self.marker and not self.marker_is_used) or word.endswith("ing"):
            return None
        if is_past:
            return Tense.PAST if self.words else None
        return Tense.PRESENT

    def _end_phrase(self) -> None:
        self.marker, self.marker_is_used, self.auxiliary = "", False, ""


_AUXILIARIES = {
    "is": "is", "be": "is", "being": "is", "get": "is", "gets": "is", "getting": "is",
    "was": "was", "been": "was", "got": "was", "had": "was", "did": "was",
    "has": "has", "does": "has",
}  # fmt: skip


def _may_count(quantity: str) -> bool:
    """Whether a noun may follow, as after `3`; none does after a date, a year, a path or `30 seconds`."""
    return quantity.isdecimal() and not (len(quantity) == 4 and quantity.startswith(("19", "20")))


def _ends_in_ed(word: str) -> bool:
    return word.endswith("ed") and stem(word) != word


def _is_name(piece: Token) -> bool:
    """A capital that no sentence asked for. The first word of a sentence stays in doubt, and counts as a word."""
    return (piece.text[0].isupper() and not piece.starts) or any(letter.isupper() for letter in piece.text[1:])


def _is_letter_as_name(piece: Token) -> bool:
    """As in `service A`; but not the article, nor `I`."""
    return len(piece.text) == 1 and piece.text.isupper() and piece.text != "I" and not piece.starts
