"""Look up stored scopes by name, and sessions, episodes and facts by id or id prefix."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nous.domain.episode import Episode, episode_id
from nous.domain.errors import BadInput, NotFound
from nous.domain.fact import Learned, Row, Superseded, standing
from nous.domain.scope import Scope, checked_name
from nous.embedding.base import MissingEmbedder, present
from nous.knowledge.fact_index import FactIndex, KnownFact

if TYPE_CHECKING:
    from nous.app.container import Container

ALL = 10**9  # limit that stands for all episodes of a scope
_MOST_NAMED = 5
_SHORTEST = 4  # characters that an id prefix needs to name a fact or a session


@contextmanager
def knowledge_of(container: "Container", scope: Scope, *, vectors: bool = True) -> Generator[FactIndex]:
    """Open the current fact index of *scope*; without vectors if the embedder has no identity."""
    context = container.memory
    embedder = present(context.embedder) if vectors else MissingEmbedder()
    with context.fact_cache.current(context.facts, scope, embedder) as knowledge:
        yield knowledge


def elsewhere(container: "Container", scope: Scope) -> str:
    others = [each for each in container.memory.episodes.scopes() if each != scope]
    return f"; there is something in {_some(others)}" if others else ""


def _some(names: Sequence[object]) -> str:
    return ", ".join(map(str, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")


def _only(what: str, name: str, ids: Sequence[str]) -> str:
    if len(name.replace("-", "") if what == "fact" else name) < _SHORTEST:
        raise BadInput(f"{name!r} is too short to name a {what}: give at least {_SHORTEST} characters of its id")
    if len(ids) > 1:
        raise BadInput(f"{len(ids)} {what}s have an id that begins with {name!r}: {_some(ids)}")
    return ids[0]


def fact_named(name: str, knowledge: FactIndex) -> KnownFact | None:
    """Return the fact whose id is or begins with *name*; None if there is none.

    Raises `BadInput` if *name* is too short for an id, or there are several.
    """
    found = knowledge.named(name)
    _only("fact", name, [str(known.fact.id) for known in found] or [name])
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
    """Return the episode with an id, or a session id, that is or begins with *name*.

    An exact session id comes first, then the id that its producer gave the episode. Raises `NotFound` if there is none
    in *scope*, or the session was forgotten, and `BadInput` if several ids begin so, or *name* is too short or cannot
    be an id.
    """
    stored = container.memory.episodes
    if exact := stored.get(scope, episode_id(scope, checked_name(name, "the id of a session"))):
        return exact
    refuse_forgotten(name, container, scope)
    recent = stored.recent(scope, ALL)
    if named := [each for each in recent if each.external_id == name]:
        return named[0]
    found = [each for each in recent if each.session_id.startswith(name) or str(each.id).startswith(name.casefold())]
    if not found:
        hint = elsewhere(container, scope)
        waits = "`nous status SESSION` says if it waits"
        raise NotFound(f"there is no episode of a session {name!r} in {scope}; {waits}{hint}")
    _only("session", name, [each.session_id for each in found])
    return found[0]


def current_count(rows: Sequence[Row]) -> int:
    learned = {row.fact.id for row in rows if isinstance(row, Learned)}
    return len(learned - {row.fact_id for row in standing(rows) if isinstance(row, Superseded)})
