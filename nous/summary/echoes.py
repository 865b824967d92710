"""What a model has from its own instructions and not from the session: their sentences, and their example."""

import re
from functools import cached_property

from nous.prose import sentences
from nous.summary.hard_tokens import Told, hard_tokens, plain
from nous.summary.heard import Claim, Heard, Session, content_of

_MOST = 0.8
_FEWEST = 5
_FEWEST_OF_EXAMPLE, _MOST_OF_EXAMPLE = 3, 0.5
_SHORTEST = 5
_NO_LETTER = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")


class Ours:
    """The text of a prompt, and the *canary*: a word of its example that no session can hold."""

    def __init__(self, prompt: str, canary: str, session: Session) -> None:
        self._prompt = prompt
        self._canary = canary.strip()
        self._session = session

    def is_echo(self, claim: Claim) -> bool:
        """Whether most of *claim* stands in one sentence of the prompt, and in no turn of the session."""
        is_ours = any(
            len(claim.content & sentence) >= _FEWEST and claim.share_in(sentence) >= _MOST
            for sentence in self._sentences
        )
        return is_ours and not any(claim.share_in(turn.content) >= _MOST for turn in self._session.turns.values())

    def is_leak(self, text: str, claim: Claim) -> bool:
        """Whether *text* has the canary, however it is written, or what else only its example says."""
        if not _letters(self._canary):
            return False
        told = Told(text)
        return (
            _letters(self._canary) in _letters(text)
            or any(f" {word} " in told.words for word in self._words_of_canary)
            or not self._tokens.isdisjoint(claim.tokens)
            or any(self._is_of(example, claim) for example in self._examples)
        )

    def _is_of(self, example: Heard, claim: Claim) -> bool:
        own = (claim.content & example.content) - self._session.content
        return len(own) >= _FEWEST_OF_EXAMPLE and len(own) >= _MOST_OF_EXAMPLE * len(claim.content)

    @cached_property
    def _sentences(self) -> list[frozenset[str]]:
        return [content_of(self._prompt[start:end]) for start, end in sentences(self._prompt)]

    @cached_property
    def _examples(self) -> list[Heard]:
        """The lines with the canary."""
        return [Heard(line) for line in self._prompt.splitlines() if _letters(self._canary) in _letters(line)]

    @cached_property
    def _tokens(self) -> frozenset[object]:
        tokens = (token for example in self._examples for token in hard_tokens(example.text))
        return frozenset(token for token in tokens if not self._session.says(token))

    @cached_property
    def _words_of_canary(self) -> list[str]:
        """The parts of the canary that the session does not know."""
        parts = (part for part in _WORD.findall(plain(self._canary)) if len(part) >= _SHORTEST)
        return [part for part in parts if not content_of(part) <= self._session.content]


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", plain(text))
