"""What a scope knows, as commands need it."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from nous.embed.absent import present
from nous.errors import BadInput, NotFound
from nous.learning.known import Knowledge, KnownFact
from nous.recall.why import named
from nous.scope import Scope
from nous.wiring import World

_MOST_SCOPES = 5
_SHORTEST = 4
"""Characters of an id that name a fact."""


@contextmanager
def knowledge_of(world: World, scope: Scope) -> Generator[Knowledge]:
    """What a scope knows at this moment; without vectors where the embedder cannot say who it is."""
    with world.kit.memory.current(world.kit.facts, scope, present(world.kit.embedder)) as knowledge:
        yield knowledge


def scopes_named(world: World, names: Sequence[str]) -> Sequence[Scope]:
    """Those that go by *names*, or all where there are none. Raises `NotFound`."""
    known, wanted = world.kit.episodes.scopes(), [Scope.parse(name) for name in names]
    for each in wanted:
        if each not in known:
            raise NotFound(f"there is no scope {each}, nor anything of it")
    return wanted or known


def elsewhere(world: World, scope: Scope) -> str:
    """Where else there is something, for whoever looked into a *scope* that is empty."""
    others = [str(each) for each in world.kit.episodes.scopes() if each != scope]
    shown = ", ".join(others[:_MOST_SCOPES]) + (", ..." if len(others) > _MOST_SCOPES else "")
    return f"; there is something in {shown}" if others else ""


def checked_beginning(name: str) -> str:
    """*name*, if it is long enough to name a fact. Raises `BadInput`."""
    if len(name.replace("-", "")) < _SHORTEST:
        raise BadInput(f"{name!r} is too short to name a fact: give at least {_SHORTEST} characters of its id")
    return name


def one_of(name: str, knowledge: Knowledge, scope: Scope) -> KnownFact:
    """The one fact whose id is or begins with *name*.

    Raises:
        NotFound: there is none in *scope*.
        BadInput: there are several, or *name* is too short.
    """
    found = named(checked_beginning(name), knowledge)
    if not found:
        raise NotFound(f"there is no fact {name!r} in {scope}")
    if len(found) > 1:
        ids = ", ".join(str(known.fact.id) for known in found[:5])
        raise BadInput(f"{len(found)} facts have an id that begins with {name!r}: {ids}")
    return found[0]
