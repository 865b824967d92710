"""How much of what two people tell about their lives survives half, a quarter and an eighth of their conversation.

    python tests/benchmarks/chats.py [--strategy default] [--shares 2,4,8]

Every set has a development and a held-out part. *life* was written and marked by hand, *lives* is the same in one
piece; in *vague* people say more of what they feel. *small talk* is real and marked by hand (../shared/data).

A fact counts as kept if 80 % of its runs of four words stand in the excerpt. *by chance* is the same for whole turns
drawn by chance, labels counted, as long as another fits.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from common.measure import DATA

from nous.excerpt import fit
from nous.transcript.model import Entry, Kind, Transcript

CHATS = Path(__file__).parent / "data" / "chats"
SMALLTALK = DATA / "plain_text"
PARTS = ("dev", "held_out")
DRAWS = 20
LABEL = len("[Assistant] ") + len("\n\n")
_RUN = 4
_ENOUGH = 0.8


@dataclass(frozen=True, slots=True)
class Turn:
    """What one of the two says at a time, and that part of it that states a fact, if any does."""

    text: str
    fact: str = ""


Chat = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """The share of facts that survived, and the share that chance keeps."""

    ours: float
    chance: float


def main(strategy: str, shares: Sequence[int]) -> None:
    for part in PARTS:
        for name, chats in chat_sets(part).items():
            for share in shares:
                kept = [measured(chat, strategy, share) for chat in chats]
                _print(f"{part:<9}{name:<12} 1/{share}", len(chats), kept)


def _print(what: str, count: int, kept: Sequence[Kept]) -> None:
    ours, chance = mean(one.ours for one in kept), mean(one.chance for one in kept)
    print(f"{what:<26} n={count:<4} kept={ours:.3f} by chance={chance:.3f} ratio={ours / max(chance, 1e-9):.2f}")


def measured(chat: Chat, strategy: str, share: int) -> Kept:
    """What of *chat* is kept in 1/*share* of its length."""
    transcript = transcript_of(chat)
    budget = fit(transcript, 10**9).chars // share
    ours = share_kept(chat, fit(transcript, budget, strategy=strategy).text)
    return Kept(ours, mean(share_kept(chat, drawn(chat, budget, seed)) for seed in range(DRAWS)))


def transcript_of(chat: Chat) -> Transcript:
    """*chat* as a transcript in which the first to speak is the user."""
    kinds = (Kind.USER, Kind.ASSISTANT)
    entries = tuple(
        Entry(kind=kinds[number % 2], text=turn.text, id=f"e{number}", turn=number // 2 + 1)
        for number, turn in enumerate(chat)
    )
    return Transcript(format="chat", entries=entries, digest="0" * 64, bytes=sum(len(turn.text) for turn in chat))


def drawn(chat: Chat, budget: int, seed: int) -> str:
    """Whole turns drawn by chance."""
    order = list(range(len(chat)))
    random.Random(seed).shuffle(order)
    taken: list[int] = []
    for index in order:
        if len(chat[index].text) + LABEL <= budget:
            budget -= len(chat[index].text) + LABEL
            taken.append(index)
    return "\n\n".join(chat[index].text for index in sorted(taken))


def share_kept(chat: Chat, excerpt: str) -> float:
    """The share of the facts of *chat* that *excerpt* has."""
    shown = set(_runs(excerpt))
    facts = [turn.fact for turn in chat if turn.fact]
    return mean(mean(run in shown for run in _runs(fact)) >= _ENOUGH for fact in facts)


def _runs(text: str) -> list[tuple[str, ...]]:
    """Every run of four words; of shorter texts, all there are."""
    words = re.findall(r"\w+", text.lower())
    return [tuple(words[start : start + _RUN]) for start in range(max(1, len(words) - _RUN + 1))]


def chat_sets(part: str) -> dict[str, list[Chat]]:
    """The conversations of *part*, by the name of their set. What is not there is said and left out."""
    life = [_life(path) for path in _of_part(sorted(CHATS.glob("life_*.txt")), part)]
    vague = [_life(path) for path in _of_part(sorted(CHATS.glob("vague_*.txt")), part)]
    sets = {"life": life, "vague": vague, "lives": [tuple(turn for chat in life for turn in chat)]}
    if not SMALLTALK.exists():
        print(f"{part}: no small talk: {SMALLTALK} is not there")
        return sets
    return sets | {"small talk": _marked(part)}


def _of_part(files: Sequence[Path], part: str) -> Sequence[Path]:
    """The first half of *files*, or the second."""
    half = len(files) // 2
    return files[half:] if PARTS.index(part) else files[:half]


def _life(path: Path) -> Chat:
    lines = path.read_text("utf-8").splitlines()
    texts = [line.partition(": ")[2] for line in lines]
    return tuple(Turn(text, text if line[0] == "*" else "") for line, text in zip(lines, texts, strict=True))


def _smalltalk(path: Path) -> list[str]:
    return [line.partition(": ")[2] for line in path.read_text("utf-8").splitlines() if line]


def _marked(part: str) -> list[Chat]:
    """The small talk that was marked by hand."""
    rows = [line.split() for line in (CHATS / "smalltalk.txt").read_text("utf-8").splitlines()]
    return list(_marked_chats(_of_part([Path(name) for name, *_ in rows], part), {name: set(m) for name, *m in rows}))


def _marked_chats(names: Sequence[Path], marks: dict[str, set[str]]) -> Iterator[Chat]:
    for name in names:
        texts = _smalltalk(SMALLTALK / f"{name}.txt")
        yield tuple(Turn(text, text if str(n) in marks[str(name)] else "") for n, text in enumerate(texts, start=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--strategy", default="default")
    parser.add_argument("--shares", default="2,4,8")
    chosen = parser.parse_args()
    main(chosen.strategy, [int(share) for share in chosen.shares.split(",")])
