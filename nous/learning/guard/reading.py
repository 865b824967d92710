"""What a text says, as far as telling it from a near copy needs: the last step of reading it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nous.learning.guard.code import code_in
from nous.learning.guard.lexicon import Lexicon
from nous.learning.guard.phrases import spelled_out
from nous.learning.guard.recast import recast
from nous.learning.guard.scan import Scan
from nous.learning.guard.tokens import Token, tokens
from nous.learning.guard.word import ONE, Frame, Role, Word

_TITLE = re.compile(r"[^.,;:!?]+:\s+\S")
"""As in `Upload limit: 25 MB`, where the colon says `is`."""

_COUNTED = re.compile(r"-?\d[\d.]*(?: [a-z]+)?")
"""What each of several may have, or all of them together: `the limit of all users is 5`."""

_LAST_LATIN_LETTER = "\u024f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text, read. Everything is in the order of the text; `grammar` holds the small words that exclude others.

    `persons` are those that it speaks of, `i` or `they`, each after the clause where it does; `code` is what it has of
    code, where case and signs have a meaning.

    `is_understood` is false for what is not in the lexicon's language: its words cannot be weighed. `opening` is the
    first token, `frame` None where no verb was found; `is_compound`, whether punctuation divides the text, and
    `is_added`, whether it tells of something besides.
    """

    words: tuple[Word, ...]
    quantities: tuple[str, ...]
    negated: tuple[str, ...]
    quantifiers: tuple[str, ...]
    modals: frozenset[str]
    grammar: frozenset[str]
    persons: tuple[tuple[str, str], ...] = ()
    is_question: bool
    is_understood: bool
    opening: str = ""
    code: frozenset[str] = frozenset()
    frame: Frame | None = None
    is_compound: bool = False
    is_added: bool = False


def read(text: str, lexicon: Lexicon) -> Reading:
    """Read *text* by the rules of *lexicon*."""
    pieces = tokens(text)
    scan = Scan(lexicon, is_titled=_TITLE.match(text) is not None, is_loud=text.isupper())
    spelled = spelled_out(pieces, lexicon)
    scan.take_all(spelled)
    quantities = sorted(word.key for word in scan.words if word.role is Role.QUANTITY and word.key != ONE)
    whole = "all" if any(map(_COUNTED.fullmatch, quantities)) else "every"
    return Reading(
        words=recast(scan.words, lexicon, is_past="was" in scan.small.grammar),
        quantities=tuple(quantities),
        negated=tuple(sorted(scan.small.negated)),
        quantifiers=tuple(sorted(whole if each == "all" else each for each in scan.small.quantifiers)),
        modals=frozenset(scan.small.modals),
        grammar=frozenset(scan.small.grammar),
        persons=tuple(scan.small.persons),
        is_question=text.rstrip().endswith("?"),
        is_understood=_is_understood(text, pieces, lexicon),
        code=code_in(text),
        opening=pieces[0].lower if pieces else "",
        frame=scan.frame,
        is_compound=sum(piece.ends for piece in pieces[:-1]) > scan.is_titled,
        is_added=any(piece.lower in lexicon.additive for piece in spelled),
    )


def _is_understood(text: str, pieces: Sequence[Token], lexicon: Lexicon) -> bool:
    if any(letter > _LAST_LATIN_LETTER and letter.isalpha() for letter in text):
        return False
    return not any(piece.lower in lexicon.foreign and (piece.starts or piece.text.islower()) for piece in pieces)
