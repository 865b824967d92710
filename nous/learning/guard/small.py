"""The small words of a text: what they are, and before which word each of them stands."""

from dataclasses import dataclass, field

from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.tokens import Token
from nous.learning.guard.word import Bound

_APART = frozenset({"without", "except", "unless"})
"""Negators that say more than `not`."""

_SHOWN = {"these": "this", "those": "that"}


@dataclass(slots=True)
class Small:
    """What negates, counts, demands and points, in the order of the text; `pending` is bound to the next word."""

    lexicon: Lexicon
    negated: list[str] = field(default_factory=list[str])
    quantifiers: list[str] = field(default_factory=list[str])
    modals: set[str] = field(default_factory=set[str])
    grammar: set[str] = field(default_factory=set[str])
    persons: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    pending: list[Bound] = field(default_factory=list[Bound])
    is_only: bool = False

    def note(self, piece: Token, small: str, clause: str, before: str, *, is_last: bool) -> None:
        """Remember *small*, which stands in *clause* after the token *before*, if others would exclude it."""
        if small in self.lexicon.excluding:
            self.grammar.add(small)
        if group := self.lexicon.binding.get(small):
            self.pending.append((group, small))
        small = _SHOWN.get(small, small)
        if small in self.lexicon.persons and (small != "that" or piece.starts or piece.ends or is_last):
            place = f"{clause} {'shown' if small in ('this', 'that') else ''}"
            self.persons.insert(0 if before == "by" else len(self.persons), (place, small))

    def negate(self, negator: str) -> None:
        self.pending.append(("negation", negator if negator in _APART else "not"))

    def quantify(self, quantifier: str, *, is_bound: bool = False) -> None:
        """Let *quantifier* count; it `is_bound` where it stands after what it bounds: `3.11 or newer`."""
        if quantifier == "only":
            self.is_only = True
            return
        self.quantifiers.append(quantifier)
        if not is_bound:
            if ("negation", "not") in self.pending:  # not always, as opposed to: always not
                self.pending.append(("order", f"not {quantifier}"))
            self.pending.append(("quantifier", "every" if quantifier == "all" else quantifier))

    def restrict(self, key: str) -> None:
        """Tell `only` with what it is about: in `only admins delete` it is another than in `admins only delete`."""
        if self.is_only:
            self.quantifiers.append(f"only {key}".strip())
            self.is_only = False

    def release(self, kind: str) -> None:
        """Bind to no word what is pending of *kind*, but let it count for the whole text."""
        alone = [word for found, word in self.pending if found == kind]
        self.pending = [bound for bound in self.pending if bound[0] != kind]
        self.quantifiers.extend([f"{' '.join(alone)} alone"] if alone else [])

    def demand(self, modal: str) -> None:
        self.modals.add(modal)
        self.pending.append(("modal", modal))

    def bind(self, key: str) -> tuple[Bound, ...]:
        """What stands before the word with *key*, and was bound to none yet."""
        bound, self.pending = tuple(sorted(self.pending)), []
        self.negated.extend(key if word == "not" else f"{word} {key}" for kind, word in bound if kind == "negation")
        return bound
