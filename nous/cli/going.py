"""What forgetting would take, in words: for whoever has to say yes to it. What is told afterwards has none of them."""

from collections.abc import Iterator, Sequence

from nous.cli.knowing import sessions_of
from nous.cli.show import counted
from nous.events import episode_id
from nous.fact import Learned
from nous.readable import shortened
from nous.runtime.forgetting import Act, Everything, Session
from nous.store.base import NO_VECTORS
from nous.wiring import World

_MOST = 5
"""Sessions and facts that are named; of the others the number is told."""


def going(act: Act, world: World) -> Iterator[str]:
    """The sessions that *act* would remove by their titles, the facts by their texts, and how many of each."""
    match act:
        case Session():
            sessions: Sequence[str] = [act.name]
        case Everything():
            sessions = sessions_of(world, act.scope)
        case _:
            sessions = ()
    yield from _some("session", [_session(name, act, world) for name in sessions[:_MOST]], of=len(sessions))
    rows = world.kit.facts.read(act.scope, embedder=NO_VECTORS).rows
    erased = act.rewritten(rows)
    is_all = isinstance(act, Everything)
    gone = [row.fact for row in rows if isinstance(row, Learned) and (is_all or row.fact.id in erased.gone)]
    yield from _some("fact", [shortened(fact.text, 100) for fact in gone[:_MOST]], of=len(gone))
    if erased.retold:
        yield f"what others have said too stays, in their words: {counted(len(erased.retold), 'fact')}"


def _session(name: str, act: Act, world: World) -> str:
    episode = world.kit.episodes.get(act.scope, episode_id(act.scope, name))
    return f"{name}  {shortened(episode.summary.title, 70) if episode else 'without an episode'}"


def _some(noun: str, shown: Sequence[str], *, of: int) -> Iterator[str]:
    if of:
        yield f"{counted(of, noun)}:"
        yield from (f"  {each}" for each in shown)
        yield from ["  ..."] * (of > len(shown))
