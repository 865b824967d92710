"""Where in a text a scan has come to, and what the words before say of the next."""

from dataclasses import dataclass, field

from nous.learning.guard import function_words as plain
from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.quantities import may_count
from nous.learning.guard.small import Small
from nous.learning.guard.tokens import Shape, Token
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
    is_cut: bool = False
    following: Token | None = None

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
        if self._is_unmarked_past(word):
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

    def _is_exception(self, piece: Token) -> bool:
        """Whether *piece* takes something out of a whole: `all but one`, `every guest but Tom`; not: `we all, but`."""
        if piece.lower != "but" or self.is_cut or (self.following and self._begins_predicate(self.following.text)):
            return False
        near = (bound for word in self.words[-1 - self._ends_with_noun() :] for bound in word.bound)  # all old guests
        return self.before in plain.WHOLES or any(small in plain.WHOLE for _, small in (*self.small.pending, *near))

    def _begins_predicate(self, word: str) -> bool:
        """Whether *word* tells that a clause comes, as in `all sing but it is late` and `but do not dance`."""
        small = self.lexicon.canonical.get(word, word)
        return word in plain.NOMINATIVE | self.lexicon.negators | {*self.lexicon.modals} or small in plain.AUXILIARIES

    def _ends_with_noun(self) -> bool:
        """Whether the last word goes with what counts it, as no verb does: `all guests`, but not `all sing`."""
        if not self.words or self.has_auxiliary or self.lexicon.is_past(self.words[-1].text.casefold()):
            return False
        return self.words[-1].is_plural is (self.small.quantifiers[-1:] == ["all"])

    def _is_unmarked_past(self, word: str) -> bool:
        """Whether *word* is past and shows it by its subject: `Tom shut`, `she read`, `the plan cost 5 euros`."""
        if word not in self.lexicon.unmarked:
            return False
        if self.before in plain.SINGLE and not self.auxiliary:
            return True
        return (word in self.lexicon.unchanging or self._is_before_object()) and self._is_after_one()

    def _is_before_object(self) -> bool:
        """Whether what follows is no part of a noun: `cost 5 euros`, `Kim spread news`; but not `the cost centres`."""
        after = self.following
        if after is None or after.shape is Shape.NUMBER or after.is_name:
            return after is not None
        is_of_name = self.words[-1:] != [] and self.words[-1].role is Role.NAME
        is_told = after.lower in plain.DETERMINERS | plain.SUBJECTS
        return is_told or (is_of_name and not self.lexicon.is_small(after.lower))

    def _is_after_one(self) -> bool:
        """Whether a single subject stands before: `Tom shut` and `the firm shut`, but not `we shut`, `Tom has shut`."""
        if not self.words or self.is_fresh or self.is_told or self.marker or self.words[-1].joined:
            return False
        subject = self.words[-1].text.casefold()
        return not subject.endswith("s") and subject not in self.lexicon.bases
