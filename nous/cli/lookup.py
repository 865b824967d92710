"""Lookups shared by commands: scopes by name, sessions and facts by id or id prefix."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nous.cli.output import counted
from nous.domain.episode import Episode
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import checked_name
from nous.domain.events import episode_id
from nous.domain.fact import Learned, LinkKind, Row, Superseded, occurrences, standing
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED
from nous.embedding.base import present
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.settling import open_pairs_of
from nous.retrieval.provenance import named
from nous.retrieval.query import EarlierValue, earlier_values
from nous.store.base import NO_VECTORS
from nous.text.sanitize import one_line, shortened

if TYPE_CHECKING:
    from nous.app.container import Container

ALL = 10**9
"""Limit that stands for all episodes of a scope."""

_MOST_SCOPES = 5
_MOST_NAMED = 5
_SHORTEST = 4
"""Characters that an id prefix needs to name a fact or a session."""

_LONGEST = 45
"""Characters of a fact's id in its longest notation."""


@contextmanager
def knowledge_of(container: "Container", scope: Scope) -> Generator[FactIndex]:
    """Open the current fact index of *scope*; without vectors if the embedder has no identity."""
    with container.memory.fact_cache.current(
        container.memory.facts, scope, present(container.memory.embedder)
    ) as knowledge:
        yield knowledge


def scopes_named(container: "Container", names: Sequence[str]) -> Sequence[Scope]:
    """Return the scopes with these *names*, or all scopes if there are no names.

    Raises:
        NotFound: there is no such scope.
    """
    known, wanted = container.memory.episodes.scopes(), [Scope.parse(name) for name in names]
    for each in wanted:
        if each not in known:
            raise NotFound(f"there is no scope {each}, nor anything of it{elsewhere(container, each)}")
    return wanted or known


def elsewhere(container: "Container", scope: Scope) -> str:
    """Return a hint about other scopes that hold something; empty if *scope* holds something."""
    known = container.memory.episodes.scopes()
    others = [] if scope in known else [str(each) for each in known]
    shown = ", ".join(others[:_MOST_SCOPES]) + (", ..." if len(others) > _MOST_SCOPES else "")
    return f"; there is something in {shown}" if others else ""


def checked_beginning(name: str) -> str:
    """Return *name* if it is long enough to name a fact, and no longer than an id.

    Raises:
        BadInput: it is too short or too long.
    """
    if len(name.replace("-", "")) < _SHORTEST:
        raise _too_short("fact", name)
    if len(name) > _LONGEST:
        raise BadInput(f"a text of {len(name):,} characters is not a fact's id: `nous facts` prints them")
    return name


def one_of(name: str, knowledge: FactIndex, container: "Container", scope: Scope) -> KnownFact:
    """Return the one fact whose id is or begins with *name*.

    Raises:
        NotFound: there is none in *scope*.
        BadInput: there are several, or *name* is too short.
    """
    found = named(checked_beginning(name), knowledge)
    if not found:
        raise NotFound(
            f"there is no fact {name!r} in {scope}{with_fact(name, container) or elsewhere(container, scope)}"
        )
    _check_alone("fact", name, [str(known.fact.id) for known in found])
    return found[0]


def checked_session(name: str, what: str = "the id of a session") -> str:
    """Return *name* if it can be a session's id or an id prefix. Call this before any lookup.

    Raises:
        BadInput: it cannot.
    """
    return checked_name(name, what) if name.strip() else name


def session_of(name: str, container: "Container", scope: Scope, *, among: Sequence[str] | None = None) -> str:
    """Return the id of the one session that begins with *name*, or *name* if there is none.

    It searches *among* these ids, or else in *scope*. Then it reads all streams, so call it only for people, and after
    an exact lookup has failed.

    Raises:
        NotFound: the session of that name was forgotten.
        BadInput: several begin with *name*, or one does and *name* is too short.
    """
    from nous.bus.tombstones import session_name  # noqa: PLC0415 (only where a prefix is resolved)

    if tombstone := container.tombstones.find(scope, session_name(scope, name)):
        raise NotFound(f"session {name} was forgotten on {tombstone.at:%Y-%m-%d %H:%M}")
    found = [each for each in (sessions_of(container, scope) if among is None else among) if each.startswith(name)]
    if name in found or not found:
        return name
    if len(name) < _SHORTEST:
        raise _too_short("session", name)
    _check_alone("session", name, found)
    return found[0]


def episode_of(name: str, container: "Container", scope: Scope) -> Episode:
    """Return the episode of the session whose id is or begins with *name*; an exact id wins.

    Raises:
        NotFound: there is none in *scope*.
        BadInput: several sessions have ids that begin so, or *name* is too short.
    """
    get = container.memory.episodes.get
    checked_session(name)
    found = get(scope, episode_id(scope, name)) or get(scope, episode_id(scope, session_of(name, container, scope)))
    if found is None:
        where = with_episode(name, container) or elsewhere(container, scope)
        raise NotFound(f"there is no episode of a session {name!r} in {scope}{where}")
    return found


def goes_by(name: str, session: str) -> bool:
    """Return whether *name* is the id *session*, or a prefix of it that is long enough."""
    return session == name or (len(name) >= _SHORTEST and session.startswith(name))


def with_episode(name: str, container: "Container", *, is_meant: Callable[[str, str], bool] = goes_by) -> str:
    """Return a hint about scopes with an episode of session *name*; empty if there are none.

    *is_meant* decides which sessions *name* may stand for.
    """
    stored = container.memory.episodes
    return _where(container, lambda scope: any(is_meant(name, each.session_id) for each in stored.recent(scope, ALL)))


def with_session(
    name: str, container: "Container", is_wanted: Callable[[Scope, str], object] = lambda _scope, _session: True
) -> str:
    """Return a hint about scopes with a session *name*; empty if there are none.

    Only sessions that satisfy *is_wanted* count. It reads all streams.
    """
    return _where(
        container,
        lambda scope: any(goes_by(name, each) and is_wanted(scope, each) for each in sessions_of(container, scope)),
    )


def with_fact(name: str, container: "Container") -> str:
    """Return a hint about scopes with facts whose id is or begins with *name*; empty if none."""

    def has(scope: Scope) -> bool:
        with knowledge_of(container, scope) as knowledge:
            return bool(named(name, knowledge))

    return _where(container, has)


def _where(container: "Container", has: Callable[[Scope], bool]) -> str:
    """Return a hint about the scopes for which *has* holds; empty if there are none."""
    found = [str(scope) for scope in container.memory.episodes.scopes() if has(scope)]
    shown = ", ".join(found[:_MOST_SCOPES]) + (", ..." if len(found) > _MOST_SCOPES else "")
    return f"; there is one in {shown}: say --scope" if found else ""


def sessions_of(container: "Container", scope: Scope) -> Sequence[str]:
    """Return the ids of all sessions with data in *scope*, sorted. Pending ones count too."""
    from nous.app.services import erasable_stores  # noqa: PLC0415 (loads the stores that erase)
    from nous.bus.erasure import ErasureTarget  # noqa: PLC0415

    with_episode = (episode.session_id for episode in container.memory.episodes.recent(scope, ALL))
    quoted = (
        each.source.session_id for each in occurrences(container.memory.facts.read(scope, embedder=NO_VECTORS).rows)
    )
    published = erasable_stores(container).bus.find(ErasureTarget(scope=scope, everything=True)).sessions
    touched = (
        session
        for status in UNFINISHED
        for where, session in container.memory.session_states.sessions(status, limit=ALL)
        if where == scope
    )
    return sorted({*with_episode, *quoted, *published, *touched})


def _too_short(what: str, name: str) -> BadInput:
    return BadInput(f"{name!r} is too short to name a {what}: give at least {_SHORTEST} characters of its id")


def _check_alone(what: str, name: str, ids: Sequence[str]) -> None:
    """Check that there is one id only; all *ids* begin with *name*.

    Raises:
        BadInput: there are several.
    """
    if len(ids) > 1:
        shown = ", ".join(ids[:_MOST_NAMED]) + (", ..." if len(ids) > _MOST_NAMED else "")
        raise BadInput(f"{len(ids)} {what}s have an id that begins with {name!r}: {shown}")


def current_count(rows: Sequence[Row]) -> int:
    """Count the facts that are current by a scope's log *rows*."""
    learned = {row.fact.id for row in rows if isinstance(row, Learned)}
    return len(learned - {row.fact_id for row in standing(rows) if isinstance(row, Superseded)})


_MOST_EARLIER = 3


def fact_lines(known: KnownFact, knowledge: FactIndex) -> Iterator[str]:
    """Yield a fact as text: its words, its source, then earlier values and possible updates."""
    fact = known.fact
    times = f", said by {known.times_confirmed} sessions" if known.times_confirmed > 1 else ""
    state = "" if known.is_current else "  (superseded)"
    yield f"{one_line(fact.text)}{state}"
    place = place_text(fact.source.session_id, fact.source.turns)
    yield f"  {fact.category}, {known.said_at:%Y-%m-%d}, {known.trust}'s words, {place}{times}  {fact.id}"
    if gone := known.superseded:
        then = f"until {gone.valid_to:%Y-%m-%d}, then" if gone.valid_to else "now"
        yield f"  {then}: {_named(knowledge.get(gone.by))}"
        return
    yield from (f"  {line}" for line in earlier_lines(earlier_values(fact.id, knowledge)))
    for offer in open_pairs_of(known, knowledge):
        if offer.link.kind is LinkKind.UPDATE:
            is_newer = offer.newer.fact.id == fact.id
            relation, other = ("may replace", offer.older) if is_newer else ("may be replaced by", offer.newer)
            yield f"  {relation}: {_named(other)}"


def earlier_lines(earlier: Sequence[EarlierValue]) -> Iterator[str]:
    """Yield the latest earlier values of a fact, and the number of further ones."""
    for each in earlier[:_MOST_EARLIER]:
        yield f"earlier, until {each.until:%Y-%m-%d}: {shortened(each.text, 90)}  {each.id}"
    if (more := len(earlier) - _MOST_EARLIER) > 0:
        yield f"and before: {counted(more, 'value')}"


def _named(known: KnownFact | None) -> str:
    return f"{shortened(known.fact.text, 90)}  {known.fact.id}" if known else "(a fact that no longer exists)"


def place_text(session_id: str, turns: Sequence[int]) -> str:
    return f"session {session_id}" + (f" turn {', '.join(map(str, turns))}" if turns else "")


def fact_object(known: KnownFact, knowledge: FactIndex) -> dict[str, Any]:
    """Return a fact as JSON."""
    return {
        **asdict(known.fact),
        "current": known.is_current,
        "times_confirmed": known.times_confirmed,
        "sources": [asdict(source) for source in dict.fromkeys(known.sources)],
        "said_as": known.said_as,
        "trust": known.trust,
        "valid_from": known.valid_from,
        "superseded": asdict(known.superseded) if known.superseded else None,
        "replaces": [asdict(row) for row in known.replaces],
        "earlier": [asdict(each) for each in earlier_values(known.fact.id, knowledge)],
        "links": [asdict(link) for link in known.standing_links.values()],
    }
