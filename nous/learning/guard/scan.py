"""From tokens to words: the third step of reading a text."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nous.learning.guard import function_words as plain
from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.quantities import SPANS, Found, may_count, quantity_at
from nous.learning.guard.small import Small
from nous.learning.guard.stem import stem
from nous.learning.guard.tokens import Shape, Token
from nous.learning.guard.word import Frame, Role, Tense, Word


@dataclass(slots=True)
class Scan:
    """One pass over the tokens, and what it remembers of the words before."""

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

    def __post_init__(self) -> None:
        self.small = Small(self.lexicon)

    def take_all(self, pieces: Sequence[Token]) -> None:
        at = 0
        while at < len(pieces):
            known = len(self.words)
            quantity, length = self._quantity(pieces[at : at + 6]) or ("", 1)
            if quantity or pieces[at].shape is Shape.SYMBOL:
                text = " ".join(piece.text for piece in pieces[at : at + length])
                self._begin_frequency(quantity)
                self._add(replace(pieces[at], text=text), Role.QUANTITY, quantity or pieces[at].symbol)
            elif not (self._is_bound(pieces[at : at + 4]) or self._is_switch(pieces[at : at + 2])):
                self._take_word(pieces[at], before=pieces[at + 1] if at + 1 < len(pieces) else None)
            at += length
            self.before = "'s" if pieces[at - 1].is_owner else pieces[at - 1].lower
            self.is_fresh = len(self.words) == known or pieces[at - 1].ends
            if pieces[at - 1].ends or at >= len(pieces):
                self.small.restrict(self.words[-1].key if self.words else "")
            if pieces[at - 1].ends:
                self._end_phrase()
                self.clause, self.is_told = "", False
                if self.is_titled:
                    self._begin_predicate("be")
        unbound = self.small.bind("")
        self.words[-1:] = [replace(word, bound=(*word.bound, *unbound)) for word in self.words[-1:]]

    def _quantity(self, pieces: Sequence[Token]) -> Found | None:
        """The quantity at the head of *pieces*; but `a day` is none in `3 times a day`."""
        if pieces[0].lower in ("a", "an") and self._follows_quantity():
            return None
        return quantity_at(pieces, self.lexicon)

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

    def _begin_period(self) -> None:
        self.outer, self.marker, self.marker_is_used = "" if self.marker_is_used else self.marker, "every", False

    def _begin_frequency(self, quantity: str) -> None:
        """Let `twice` and `every 5 minutes` be told as how often: a phrase that may move."""
        if not self.marker and (quantity.endswith(" time") or self.before in ("every", "each")):
            self.marker, self.marker_is_used = "every", False

    def _is_bound(self, pieces: Sequence[Token]) -> bool:
        """Whether the first of *pieces* bounds the number after it, as in `over 500`, or names it: `version 3.1`."""
        word = pieces[0].lower
        if word == "version":
            return len(pieces) > 1 and pieces[1].shape is Shape.NUMBER
        quantity = quantity_at(pieces[1:], self.lexicon) if word in self.lexicon.bounds else None
        if not quantity or (word == "over" and any(w.root in self.lexicon.spreading for w in self.words[-2:])):
            return False
        if word == "within":
            if quantity[0].split()[-1] not in SPANS:  # within 3 zones
                return False
            self.marker, self.marker_is_used = "in", False
        self.small.quantify(self.lexicon.bounds[word])
        return True

    def _is_switch(self, pieces: Sequence[Token]) -> bool:
        """Whether the first of *pieces* is a state, as in `the light is on` and `is off in winter`."""
        word, following = pieces[0], pieces[1] if len(pieces) > 1 else None
        if self.marker != "be" or self.marker_is_used or word.lower not in plain.SWITCHES:
            return False
        if not word.ends and following and following.lower not in self.lexicon.prepositions:
            return False
        self._add(word, Role.WORD, self.lexicon.key(plain.SWITCHES[word.lower]))
        return True

    def _take_word(self, piece: Token, before: Token | None) -> None:
        lexicon, word = self.lexicon, piece.lower
        small = lexicon.canonical.get(word, word)
        self.is_told = self.is_told and small not in plain.RENEWING and small not in lexicon.clausal
        is_code = not self.is_loud and lexicon.is_code(piece.text)
        if piece.is_letter_as_name or is_code or piece.is_letter_before(before):
            self._add(piece, Role.NAME, word)
            return
        self.small.note(piece, small, self.clause, self.before, is_last=before is None)
        if piece.is_quoted:
            self._add(piece, Role.NAME, word)
        elif not self._is_small(piece, small, before):
            is_name = piece.is_name
            self._add(piece, Role.NAME if is_name else Role.WORD, self._name(piece) if is_name else lexicon.key(word))

    def _is_small(self, piece: Token, small: str, before: Token | None) -> bool:
        """Whether *piece* is one of the words that tell how others belong together, and was taken as that."""
        lexicon, word = self.lexicon, piece.lower
        is_period = before is not None and before.lower.removesuffix("s") in lexicon.periods
        if word in lexicon.negators:
            self.small.negate(word)
            if word == "without":
                self.marker, self.marker_is_used = word, False
        elif word in lexicon.quantifiers or "_" in word:
            self._take_quantifier(word, before, is_period=is_period)
        elif word in ("a", "an") and is_period and self._follows_quantity():
            self.small.quantify("every")
            self._begin_period()
        elif word in lexicon.modals:
            self.small.demand(lexicon.modals[word])
            self.auxiliary, self.is_told = "modal", True
            self._begin_predicate("")
        elif word in ("need", "needs") and before is not None and before.lower.endswith("ing"):  # needs tuning
            self.small.demand("must")
            self.marker, self.marker_is_used, self.auxiliary = "be", False, "modal"
        elif word in lexicon.prepositions:
            self.marker, self.marker_is_used = small, False
            if small in lexicon.clausal:
                self.clause = small
        elif small in ("last", "next") and is_period and (not self.marker or self.marker_is_used):
            self.marker, self.marker_is_used = "when", False
            self._add(piece, Role.WORD, lexicon.key(word))
        elif word in lexicon.function or (word == "own" and self.before in plain.DETERMINERS):
            self._take_function_word(small)
        else:
            return False
        return True

    def _take_function_word(self, word: str) -> None:
        if word in ("and", "or"):
            return
        if word == "so" and self.is_fresh and self.words and not self.clause:
            self._give_reason()
        if word in plain.FINITE:
            self._begin_predicate(plain.FINITE[word])
        if word in plain.AUXILIARIES:
            self.is_told, self.is_relative = True, bool(self.words) and self.before in plain.RELATIVE
            self.auxiliary = "modal" if word == "been" and self.clause else plain.AUXILIARIES[word]
            self.marker, self.marker_is_used = ("be", False) if self.auxiliary in ("is", "was") else ("", False)
        elif self.marker_is_used:
            self.marker, self.marker_is_used = "", False

    def _give_reason(self) -> None:
        """What was said is why: `it is cold, so wear a coat` is `because it is cold, wear a coat`."""
        self.words[:] = [replace(word, clause=word.clause or "because") for word in self.words]
        self.small.grammar.add("because")

    def _begin_predicate(self, verb: str) -> None:
        """An auxiliary is certain; what looked like a verb before may have been a noun, as in `the run time is`."""
        if self.words and not self.has_auxiliary:
            self.frame, self.has_auxiliary = Frame(len(self.words), verb), True

    def _see_verb(self, base: str) -> None:
        """Let the word with the root *base* be the verb, if none was found and it is not governed, as a noun may be."""
        if self.frame and not self.frame.verb and self.frame.subject == len(self.words):
            self.frame = Frame(len(self.words), base)
            return
        is_governed = self.marker and not self.marker_is_used
        if self.words and not self.frame and not is_governed and base in self.lexicon.values.verbs:
            self.frame = Frame(len(self.words), base)

    def _add(self, piece: Token, role: Role, key: str) -> None:
        if not (self.auxiliary == "is" and self.lexicon.is_past(piece.lower)):  # only used by, used only by
            self.small.restrict(key)
        word = piece.lower
        base = stem(self.lexicon.bases.get(word, word))
        if role is Role.WORD and self._is_said_of_deed(piece, base):
            return
        if role is Role.WORD:
            self._see_verb(base)
        found = Word(
            text=piece.text,
            key=key,
            role=role,
            root=base,
            marker=self.marker,
            tense=self._tense(piece) if role is Role.WORD else None,
            is_doubt=role is Role.WORD and base in self.lexicon.doubts,
            clause=self.clause,
            opens=self.is_fresh,
            joined=self.before in ("and", "or") and not piece.is_owner,
            is_one=self.before in ("a", "an"),
            is_told=self.before in plain.DETERMINERS,
            bound=self.small.bind(key),
        )
        if role is Role.QUANTITY and self.marker == "to" and self._ends_with_quantity():
            self.small.quantifiers.append("span")
        self.words.append(self._instead_of_light(found) if found.role is Role.WORD else found)
        self.auxiliary = self.auxiliary if self.lexicon.is_adverb(word) else ""
        self.marker_is_used = True
        if self.marker == "every":
            self.marker, self.marker_is_used, self.auxiliary = self.outer, False, ""
        elif role is Role.QUANTITY and not may_count(key):
            self._end_phrase()

    def _instead_of_light(self, deed: Word) -> Word:
        """*deed* in the place of the verb that only carries it: `decision` for `made the decision`."""
        verb = self.words[-1] if self.words and self.lexicon.is_deed(deed.text.casefold()) else None
        if verb is None or verb.role is not Role.WORD or verb.root not in self.lexicon.light:
            return deed
        if self.before not in (*plain.ARTICLES, verb.text.casefold()):
            return deed
        self.words.pop()
        return replace(deed, marker=verb.marker, tense=verb.tense, opens=verb.opens, joined=verb.joined)

    def _is_said_of_deed(self, light: Token, base: str) -> bool:
        """Let the deed before say when, and forget the verb, in `backups of the ledger are made`, `releases happen`."""
        is_event = self.lexicon.same.get(base) == "happen" and not self.marker
        if not is_event and (base not in self.lexicon.light or self.auxiliary not in ("is", "was")):
            return False
        at = next((at for at, word in enumerate(self.words) if self.lexicon.is_deed(word.text.casefold())), None)
        if at is None or (is_event and at + 1 != len(self.words)):
            return False
        self.words[at] = replace(self.words[at], tense=self._tense(light))
        self._end_phrase()
        return True

    def _tense(self, piece: Token) -> Tense | None:
        """When the verb *piece* says it is; None where it may be a participle, an infinitive or a noun."""
        word = piece.lower
        is_past = piece.is_past or self.lexicon.is_past(word)
        if self.auxiliary in ("is", "was"):
            is_aside = is_past and self.is_relative
            return Tense.PAST if self.auxiliary == "was" else Tense.ASIDE if is_aside else Tense.PRESENT
        if word in self.lexicon.unchanging and self._is_after_one():
            return Tense.PAST
        if self.before in plain.DETERMINERS or (is_past and self.is_told and not self.auxiliary):
            return None  # a noun, or a participle beside one: the verb was told before
        if self.marker == "be" and self.marker_is_used and not is_past and self.before != "and":
            return None
        if self.auxiliary == "modal" or (self.marker and not self.marker_is_used) or word.endswith("ing"):
            return None
        if is_past:
            return Tense.PAST if self.words else None
        return Tense.PRESENT

    def _is_after_one(self) -> bool:
        """Whether a single subject stands before: `Tom shut` and `the firm shut`, but not `we shut`, `Tom has shut`."""
        if not self.words or self.is_fresh or self.is_told or self.marker or self.words[-1].joined:
            return False
        subject = self.words[-1].text.casefold()
        return not subject.endswith("s") and subject not in self.lexicon.bases

    def _take_quantifier(self, word: str, before: Token | None, *, is_period: bool) -> None:
        is_each = word == "per" and not is_period  # each for itself, not all together
        quantifier = word if is_each else self.lexicon.quantifiers.get(word, word)
        is_before = before is not None and quantity_at([before], self.lexicon) is not None
        is_bound = "_" in quantifier and not is_before and self._follows_quantity()
        is_behind = bool(self.words) and not self.is_fresh and self.words[-1].text.casefold() == self.before
        if is_behind and quantifier in plain.FREQUENCIES:  # it runs always on port 9017
            is_bound = before is None or before.lower in self.lexicon.prepositions
        if is_bound:
            self.words[-1] = replace(self.words[-1], bound=(*self.words[-1].bound, ("quantifier", quantifier)))
        self.small.quantify("whole" if quantifier == "all" and is_period else quantifier, is_bound=is_bound)
        if quantifier in ("more_than", "less_than") and not is_before:
            self.marker, self.marker_is_used = "than", False
        if is_period:
            self._begin_period()
        elif is_each:
            self.marker, self.marker_is_used = "for", False

    def _end_phrase(self) -> None:
        self.marker, self.marker_is_used, self.auxiliary = "", False, ""
