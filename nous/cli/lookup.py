"""Look up stored scopes by name, and sessions, episodes and facts by id or id prefix."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nous.domain.episode import Episode, episode_id
from nous.domain.errors import NotFound
from nous.domain.fact import Learned, Row, Superseded, standing
from nous.domain.scope import Scope, checked_name
from nous.embedding.base import MissingEmbedder, present
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.services.memory import check_prefix, find_episode, some_of

if TYPE_CHECKING:
    from nous.app.container import Container

ALL = 10**9  # limit that stands for all episodes of a scope


@contextmanager
def knowledge_of(container: "Container", scope: Scope, *, vectors: bool = True) -> Generator[FactIndex]:
    """Open the current fact index of *scope*; without vectors if the embedder has no identity."""
    context = container.memory
    embedder = present(context.embedder) if vectors else MissingEmbedder()
    with context.fact_cache.current(context.facts, scope, embedder) as knowledge:
        yield knowledge


def elsewhere(container: "Container", scope: Scope) -> str:
    others = [each for each in container.memory.episodes.scopes() if each != scope]
    return f"; other scopes are {some_of(others)}" if others else ""


def fact_named(name: str, knowledge: FactIndex) -> KnownFact | None:
    """Return the fact whose id is or begins with *name*; None if there is none.

    Raises `BadInput` if *name* is too short for an id, or there are several.
    """
    found = knowledge.named(name)
    check_prefix("fact", name, [str(known.fact.id) for known in found])
    return found[0] if found else None


def one_of(name: str, knowledge: FactIndex, container: "Container", scope: Scope) -> KnownFact:
    """Return the one fact that *name* names. Raises `NotFound`, or what `fact_named` raises."""
    if found := fact_named(name, knowledge):
        return found
    raise NotFound(f"there is no fact {name!r} in {scope}{elsewhere(container, scope)}")


def refuse_forgotten(name: str, container: "Container", scope: Scope) -> None:
    # An exact id is meant before any prefix, also that of a forgotten session.
    if tombstone := container.tombstones.find(scope, str(episode_id(scope, name))):
        raise NotFound(f"session {name} was forgotten on {tombstone.at:%Y-%m-%d %H:%M}")


def episode_of(name: str, container: "Container", scope: Scope) -> Episode:
    """Return the episode that `find_episode` finds; refuse a forgotten session, too."""
    refuse_forgotten(checked_name(name, "the id of a session"), container, scope)
    try:
        return find_episode(container.memory, name, scope)
    except NotFound as error:
        raise NotFound(f"{error}{elsewhere(container, scope)}") from None


def current_count(rows: Sequence[Row]) -> int:
    learned = {row.fact.id for row in rows if isinstance(row, Learned)}
    return len(learned - {row.fact_id for row in standing(rows) if isinstance(row, Superseded)})
