"""Where in a text a scan has come to, and what the words before say of the next."""

from dataclasses import dataclass, field

from nous.learning.guard import function_words as plain
from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.quantities import may_count
from nous.learning.guard.small import Small
from nous.learning.guard.tokens import Token
from nous.learning.guard.word import Frame, Role, Tense, Word


@dataclass(slots=True)
class Place:
    """What a scan remembers of the words before."""

    lexicon: Lexicon
    words: list[Word] = field(default_factory=list[Word])
    small: Small = field(init=False)
    is_titled: bool = False
    is_loud: bool = False
    marker: str = ""
    marker_is_used: bool = False
    auxiliary: str = ""
    clause: str = ""
    before: str = ""
    is_fresh: bool = True
    outer: str = ""
    frame: Frame | None = None
    has_auxiliary: bool = False
    is_told: bool = False
    is_relative: bool = False
    is_command: bool = False

    def __post_init__(self) -> None:
        self.small = Small(self.lexicon)

    def _follows_quantity(self) -> bool:
        """Whether a quantity has just been told: `$12`, `3 times`, `50 requests`."""
        is_counted = len(self.words) > 1 and self.words[-2].role is Role.QUANTITY and may_count(self.words[-2].key)
        return not self.is_fresh and (self._ends_with_quantity() or is_counted)

    def _ends_with_quantity(self) -> bool:
        return bool(self.words) and self.words[-1].role is Role.QUANTITY

    def _name(self, piece: Token) -> str:
        """A name, for which no synonym stands, as in `Google Chat` and `the DROP privilege`; but for `DB` one does."""
        follows = bool(self.words) and not self.is_fresh and self.words[-1].role is Role.NAME and self.before != "'s"
        is_proper = len(piece.text) > plain.LONGEST_ABBREVIATION if piece.text.isupper() else follows
        return piece.name if is_proper else self.lexicon.same.get(piece.name, piece.name)

    def _is_exact(self, piece: Token, following: Token | None) -> bool:
        """Whether *piece*, a common word, is a name: `is called fetch`, `npm start`, `the remove method`."""
        if (following and following.lower in plain.NAMED) or (self.is_command and self._is_of_command(piece)):
            return True
        is_name = self.auxiliary in ("is", "was") and self.words[-1:] != [] and self.words[-1].root.endswith("nam")
        is_told = self.before in plain.NAMING or (is_name and not self.lexicon.is_past(piece.lower))
        return is_told and not self.lexicon.is_adverb(piece.lower)

    def _is_of_command(self, piece: Token) -> bool:
        """Whether *piece* is typed: a command, or a word behind one; but not in `a git repository`."""
        if self.is_command:
            return piece.text.islower() and not piece.lower.endswith(plain.INFLECTED)
        return piece.text in self.lexicon.commands and self.before not in plain.DETERMINERS

    def _tense(self, piece: Token) -> Tense | None:
        """When the verb *piece* says it is; None where it may be a participle, an infinitive or a noun."""
        word = piece.lower
        is_past = piece.is_past or self.lexicon.is_past(word) or self.before == "formerly"
        if self.auxiliary in ("is", "was"):
            is_aside = is_past and self.is_relative
            return Tense.PAST if self.auxiliary == "was" else Tense.ASIDE if is_aside else Tense.PRESENT
        if word in self.lexicon.unchanging and self._is_after_one():
            return Tense.PAST
        if self.before in plain.DETERMINERS - plain.SHOWING or (is_past and self.is_told and not self.auxiliary):
            return None  # a noun, or a participle beside one: the verb was told before
        if self.marker == "be" and self.marker_is_used and not is_past and self.before != "and":
            return None
        if self.lexicon.is_adverb(word):
            return None
        is_governed = self.marker and not self.marker_is_used and self.before not in plain.SUBJECTS
        if self.auxiliary == "modal" or is_governed or word.endswith("ing"):
            return None
        if is_past:
            return Tense.PAST if self.before else None
        return Tense.PRESENT

    def _is_after_one(self) -> bool:
        """Whether a single subject stands before: `Tom shut` and `the firm shut`, but not `we shut`, `Tom has shut`."""
        if not self.words or self.is_fresh or self.is_told or self.marker or self.words[-1].joined:
            return False
        subject = self.words[-1].text.casefold()
        return not subject.endswith("s") and subject not in self.lexicon.bases
