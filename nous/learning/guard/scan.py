"""From tokens to words: the third step of reading a text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nous.learning.guard import function_words as plain
from nous.learning.guard.place import Place
from nous.learning.guard.quantities import SPANS, Found, may_count, quantity_at
from nous.learning.guard.stem import stem
from nous.learning.guard.tokens import Shape, Token
from nous.learning.guard.word import Frame, Role, Word

_WEAK = frozenset({"", "be", "that"})
"""What a preposition may take the place of, and nothing is lost: `is in`, `says that in`."""

_SOMEBODY = frozenset({"it", "itself", "whom", "which", "this", "that", "these", "those"} | plain.SUBJECTS)
"""What stands for a word, and is governed as one; with those whom the lexicon calls persons."""


@dataclass(slots=True)
class Scan(Place):
    """One pass over the tokens."""

    def take_all(self, pieces: Sequence[Token]) -> None:
        at = 0
        while at < len(pieces):
            known = len(self.words)
            quantity, length = self._quantity(pieces[at : at + 6]) or ("", 1)
            if quantity or pieces[at].shape is Shape.SYMBOL:
                text = " ".join(piece.text for piece in pieces[at : at + length])
                if self._is_weekly(quantity, text):
                    self.small.quantify("every")
                    self.outer, self.marker = "", "every" if self.marker == "on" else self.marker
                self._begin_frequency(quantity)
                self._add(replace(pieces[at], text=text), Role.QUANTITY, quantity or pieces[at].symbol)
            elif not any(take(pieces[at : at + 4]) for take in (self._is_bound, self._is_degree, self._is_switch)):
                is_last = pieces[at].ends or at + 1 == len(pieces)
                self._take_word(pieces[at], following=None if is_last else pieces[at + 1])
            at += length
            self.is_cut = pieces[at - 1].ends
            self.is_fresh = len(self.words) == known or self.is_cut
            self.is_command = not self.is_fresh and self._is_of_command(pieces[at - 1])
            self.before = "'s" if pieces[at - 1].is_owner else pieces[at - 1].lower
            if pieces[at - 1].ends or at >= len(pieces):
                self.small.restrict(self.words[-1].key if self.words else "")
            if pieces[at - 1].ends:
                self._end_marker()
                self._bind_behind("negation")
                self._end_phrase()
                self.clause, self.is_told = "", False
                if self.is_titled:
                    self._begin_predicate("be")
        self._end_marker()
        self._bind_behind("")

    def _bind_behind(self, kind: str) -> None:
        """Bind what is pending to the word before, if there is any of the *kind*: `it runs not. In production ...`."""
        if any(kind in (found, "") for found, _ in self.small.pending):
            unbound = self.small.bind("")
            self.words[-1:] = [replace(word, bound=(*word.bound, *unbound)) for word in self.words[-1:]]

    def _quantity(self, pieces: Sequence[Token]) -> Found | None:
        """The quantity at the head of *pieces*; but `a day` is none in `3 times a day`."""
        if pieces[0].lower in ("a", "an") and self._follows_quantity():
            return None
        return quantity_at(pieces, self.lexicon, self.before)

    def _is_weekly(self, quantity: str, text: str) -> bool:
        """Whether it is each of the days, as in `on Mondays`; but `Tues` is one."""
        is_many = quantity.startswith("weekday") and text.endswith("s") and len(text) > len("Thurs")
        return is_many and self.before not in self.lexicon.quantifiers

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

    def _is_degree(self, pieces: Sequence[Token]) -> bool:
        """Whether the first of *pieces* says how much: `too small`, `as fast as before`; but not in `guests, too`."""
        word, following = pieces[0].lower, pieces[1] if len(pieces) > 1 and not pieces[0].ends else None
        is_too = word == "too" and following and not self.lexicon.is_small(following.lower)
        is_as = word == "as" and following and not following.ends and pieces[2:3] and pieces[2].lower == "as"
        if not is_too and not is_as:
            return False
        self.small.quantify(word)
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

    def _take_word(self, piece: Token, following: Token | None) -> None:
        self.following = following
        piece = replace(piece, text="except") if self._is_exception(piece) else piece
        lexicon, word = self.lexicon, piece.lower
        small = lexicon.canonical.get(word, word)
        self.is_told = self.is_told and small not in plain.RENEWING and small not in lexicon.clausal
        is_code = not self.is_loud and lexicon.is_code(piece.text)
        if piece.is_letter_as_name or is_code or piece.is_letter_before(following):
            self._add(piece, Role.NAME, word)
            return
        self.small.note(piece, small, self.clause, self.before, is_last=following is None)
        if piece.is_quoted:
            self._add(piece, Role.NAME, word)
        elif not self._is_small(piece, small, following):
            is_name = piece.is_name
            exact = piece.lower if self._is_exact(piece, following) else ""
            key = exact or (self._name(piece) if is_name else lexicon.key(word))
            self._add(piece, Role.NAME if is_name else Role.WORD, key)

    def _is_small(self, piece: Token, small: str, following: Token | None) -> bool:
        """Whether *piece* is one of the words that tell how others belong together, and was taken as that."""
        lexicon, word = self.lexicon, piece.lower
        is_period = following is not None and following.lower.removesuffix("s") in lexicon.periods
        if word in lexicon.negators:
            self.small.negate(word)
            if word == "without":
                self._govern(word)
        elif word in lexicon.quantifiers or "_" in word:
            self._take_quantifier(word, following, is_period=is_period)
        elif word in ("a", "an") and is_period and self._follows_quantity():
            self.small.quantify("every")
            self._begin_period()
        elif word in lexicon.modals:
            self.small.demand(lexicon.modals[word])
            self.auxiliary, self.is_told = "modal", True
            self._begin_predicate("")
        elif word in ("need", "needs") and following is not None and following.lower.endswith("ing"):  # needs tuning
            self.small.demand("must")
            self.marker, self.marker_is_used, self.auxiliary = "be", False, "modal"
        elif word in lexicon.prepositions:
            self._govern(small)
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

    def _govern(self, marker: str) -> None:
        """Let *marker* govern what follows, and be bound to it what has governed nothing yet: `than in May`."""
        self._keep_marker()
        self.marker, self.marker_is_used = marker, False

    def _keep_marker(self) -> None:
        """Let the marker be bound as a small word if it governs no word; but in `by her`, it governs somebody."""
        is_somebody = self.before in _SOMEBODY or self.lexicon.canonical.get(self.before) in self.lexicon.persons
        if self.marker not in _WEAK and not self.marker_is_used and not is_somebody:
            self.small.pending.append(("preposition", self.marker))

    def _end_marker(self) -> None:
        """Let what governs nothing up to the end count, wherever that is: `the team moves on`, `slower than before`."""
        self._keep_marker()
        self.small.release("preposition")

    def _take_function_word(self, word: str) -> None:
        if word in ("and", "or"):
            return
        if word == "but" and self.small.negated:  # not errors but timeouts
            self.small.quantify(word)
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
        is_end = self.marker == "to" and self._ends_with_quantity()
        if role is Role.QUANTITY and (is_end or (self.marker == "between" and not self.marker_is_used)):
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

    def _take_quantifier(self, word: str, following: Token | None, *, is_period: bool) -> None:
        is_each = word == "per" and not is_period  # each for itself, not all together
        quantifier = word if is_each else self.lexicon.quantifiers.get(word, word)
        is_counted = following is not None and quantity_at([following], self.lexicon) is not None
        is_bound = "_" in quantifier and not is_counted and self._follows_quantity()
        is_behind = bool(self.words) and not self.is_fresh and self.words[-1].text.casefold() == self.before
        if is_behind and quantifier in plain.FREQUENCIES:  # it runs always on port 9017
            is_bound = following is None or following.lower in self.lexicon.prepositions
        if is_bound:
            self.words[-1] = replace(self.words[-1], bound=(*self.words[-1].bound, ("quantifier", quantifier)))
        self.small.quantify("whole" if quantifier == "all" and is_period else quantifier, is_bound=is_bound)
        if quantifier in ("more_than", "less_than") and not is_counted:
            self.marker, self.marker_is_used = "than", False
        if is_period:
            self._begin_period()
        elif is_each:
            self.marker, self.marker_is_used = "for", False

    def _end_phrase(self) -> None:
        self.marker, self.marker_is_used, self.auxiliary = "", False, ""
