"""Several words that are one, and one that is several: the second step of reading a text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nous.learning.guard.lexicon import Lexicon, Phrases
from nous.learning.guard.stem import stem
from nous.learning.guard.tokens import Shape, Token

LONGEST = 4
"""Words in a phrase."""


def spelled_out(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[Token, ...]:
    """*tokens* with every known phrase, compound and contraction in its one spelling."""
    words = _replaced(tokens, lexicon, lexicon.phrases, str)
    words = _replaced(words, lexicon, lexicon.compounds, lambda word: stem(lexicon.bases.get(word, word)))
    befores, afters = (None, *words[:-1]), (*words[1:], None)
    return tuple(
        piece
        for before, word, after in zip(befores, words, afters, strict=False)
        for piece in ((word,) if _is_told_of(word, before, after, lexicon) else _opened(word, lexicon))
    )


def _is_told_of(token: Token, before: Token | None, after: Token | None, lexicon: Lexicon) -> bool:
    """Whether *token* is a sign that stands for itself, as in `joined with +`; but not in `from >= 5`."""
    is_governed = before is not None and before.lower in lexicon.prepositions
    return token.shape is Shape.SYMBOL and is_governed and (after is None or after.shape is not Shape.NUMBER)


def _replaced(
    tokens: Sequence[Token], lexicon: Lexicon, phrases: Phrases, form: Callable[[str], str]
) -> tuple[Token, ...]:
    forms = tuple(form(token.lower) for token in tokens)
    return tuple(_longest_first(tokens, lexicon, phrases, forms))


def _longest_first(
    tokens: Sequence[Token], lexicon: Lexicon, phrases: Phrases, forms: tuple[str, ...]
) -> Iterator[Token]:
    at = 0
    while at < len(tokens):
        length = next((n for n in range(LONGEST, 1, -1) if forms[at : at + n] in phrases), 1)
        if length == 1:
            yield tokens[at]
        else:
            yield from _instead(tokens[at : at + length], phrases[forms[at : at + length]], lexicon)
        at += length


def _opened(token: Token, lexicon: Lexicon) -> Iterator[Token]:
    meaning = lexicon.said_otherwise.get(token.text) or lexicon.said_otherwise.get(token.lower)
    return _instead((token,), meaning, lexicon) if meaning else iter((token,))


def _instead(tokens: Sequence[Token], meaning: Sequence[str], lexicon: Lexicon) -> Iterator[Token]:
    """The words of *meaning* in the place of *tokens*, beginning and ending clauses where these did."""
    first, last = tokens[0], tokens[-1]
    for number, word in enumerate(meaning, start=1):
        starts, ends = first.starts and number == 1, last.ends and number == len(meaning)
        yield replace(
            first, text=word, shape=Shape.WORD, starts=starts, ends=ends, is_past=lexicon.is_past(first.lower)
        )
