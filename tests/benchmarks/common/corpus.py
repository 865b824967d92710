"""A large scope, made up: services with numbers, names and dates, some twenty facts close to each other.

The vectors are made up too, so that no embedder is timed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nous.domain.episode import CandidateFact

DIM = 384
PER_SESSION = 10
SESSIONS = 20
PER_CLUSTER = 20
_ABOUT = (
    "The retry limit of {service} is {number} attempts",
    "{service} listens on port {number}",
    "{name} owns {service} since 2025-{month:02}-{day:02}",
    "{service} keeps its sessions for {number} minutes in Redis",
    "The deploy of {service} takes {number} s and is watched by {name}",
    "{service} reads its settings from config/{service}/{number}.toml",
    "Backups of {service} run at {day}:00 UTC and are kept for {month} weeks",
)
_NAMES = ("Ana", "Bo", "Chen", "Dee", "Eli", "Fay", "Gus", "Hana", "Ivo", "Jun")
Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Corpus:
    """Texts and the vector of each; also the embedder that makes these vectors of these texts."""

    texts: tuple[str, ...]
    vectors: Vector
    places: dict[str, int]
    id: str = "made-up"
    dim: int = DIM

    @classmethod
    def of(cls, size: int) -> "Corpus":
        texts = tuple(_text(number) for number in range(size))
        return cls(texts, made_up(size, seed=size), {text: number for number, text in enumerate(texts)})

    def embed(self, texts: Sequence[str]) -> Vector:
        return self.vectors[[self.places[said_first(text, self.places)] for text in texts]]

    def sessions(self, first: int) -> Iterator[list[CandidateFact]]:
        """Sessions that say what stands behind the *first* texts, and some of these once more."""
        for number in range(SESSIONS):
            start = first + number * PER_SESSION
            known = [number * 37 % first + away for away in range(PER_SESSION)]
            texts = [self.texts[at] for at in range(start, start + 6)] + [self.texts[known[0]]]
            texts += [said_again(self.texts[at % first]) for at in known[1:4]]
            yield [CandidateFact(text=text) for text in texts]


def _text(number: int) -> str:
    rng = np.random.default_rng(number)
    service = f"{('billing', 'mail', 'search', 'auth', 'cart')[number % 5]}-{number // PER_CLUSTER}"
    about = _ABOUT[number % len(_ABOUT)]
    name, month, day = _NAMES[int(rng.integers(10))], int(rng.integers(1, 13)), int(rng.integers(1, 24))
    return about.format(service=service, number=3 + number, name=name, month=month, day=day)


def said_again(text: str) -> str:
    """The same in another form, which no exact comparison recognises."""
    return text.removeprefix("The ") if text.startswith("The ") else f"The {text}"


def said_first(text: str, places: dict[str, int]) -> str:
    return text if text in places else said_again(text)


def made_up(size: int, *, seed: int) -> Vector:
    """Unit vectors, `PER_CLUSTER` in a row about one centre, from all but alike to rather far."""
    rng = np.random.default_rng(seed)
    vectors = np.empty((size, DIM), dtype=np.float32)
    for start in range(0, size, 5000):
        rows = np.arange(start, min(start + 5000, size))
        centres = rng.standard_normal((rows[-1] // PER_CLUSTER - rows[0] // PER_CLUSTER + 1, DIM), dtype=np.float32)
        spread = rng.uniform(0.1, 0.9, size=(len(rows), 1)).astype(np.float32)
        noise = rng.standard_normal((len(rows), DIM), dtype=np.float32)
        block = centres[rows // PER_CLUSTER - rows[0] // PER_CLUSTER] + spread * noise
        vectors[rows] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return vectors
