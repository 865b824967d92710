"""What a scope knows, as commands need it."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from nous.app import World
from nous.app.services import stores_of
from nous.bus.erasure import Wanted
from nous.bus.tombstones import session_name
from nous.cli.output import counted
from nous.domain.episode import Episode
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import checked_name
from nous.domain.events import episode_id
from nous.domain.fact import LinkKind, tellings
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED
from nous.embedding.base import present
from nous.facts.fact_index import Knowledge, KnownFact
from nous.facts.settling import offers_of
from nous.search.provenance import named
from nous.search.query import EarlierValue, earlier_values
from nous.store.base import NO_VECTORS
from nous.text.sanitize import one_line, shortened

ALL = 10**9
"""Episodes of a scope, where all of them are wanted."""

_MOST_SCOPES = 5
_MOST_NAMED = 5
_SHORTEST = 4
"""Characters of an id that name a fact or a session."""

_LONGEST = 45
"""Characters of a fact's id, in whatever way it is written."""


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
            raise NotFound(f"there is no scope {each}, nor anything of it{elsewhere(world, each)}")
    return wanted or known


def elsewhere(world: World, scope: Scope) -> str:
    """Where else there is something, for whoever has found nothing in *scope*; empty if there is something in it."""
    known = world.kit.episodes.scopes()
    others = [] if scope in known else [str(each) for each in known]
    shown = ", ".join(others[:_MOST_SCOPES]) + (", ..." if len(others) > _MOST_SCOPES else "")
    return f"; there is something in {shown}" if others else ""


def checked_beginning(name: str) -> str:
    """*name*, if it is long enough to name a fact, and not longer than an id. Raises `BadInput`."""
    if len(name.replace("-", "")) < _SHORTEST:
        raise _too_short("fact", name)
    if len(name) > _LONGEST:
        raise BadInput(f"a text of {len(name):,} characters is not a fact's id: `nous facts` prints them")
    return name


def one_of(name: str, knowledge: Knowledge, world: World, scope: Scope) -> KnownFact:
    """The one fact whose id is or begins with *name*.

    Raises:
        NotFound: there is none in *scope*.
        BadInput: there are several, or *name* is too short.
    """
    found = named(checked_beginning(name), knowledge)
    if not found:
        raise NotFound(f"there is no fact {name!r} in {scope}{with_fact(name, world) or elsewhere(world, scope)}")
    _check_alone("fact", name, [str(known.fact.id) for known in found])
    return found[0]


def checked_session(name: str, what: str = "the id of a session") -> str:
    """*name*, if a session could be called so, or its id begin so. Raises `BadInput`, before anything is looked for."""
    return checked_name(name, what) if name.strip() else name


def session_of(name: str, world: World, scope: Scope, *, among: Sequence[str] | None = None) -> str:
    """The id of the one session of *scope*, or *among* some of its, that begins with *name*; *name*, where none does.

    It reads all streams: for people, and after nothing was found under the name as it is.

    Raises:
        NotFound: the session of that name was forgotten.
        BadInput: several begin so, or one does and *name* is too short to tell it.
    """
    if grave := world.tombstones.find(scope, session_name(scope, name)):
        raise NotFound(f"session {name} was forgotten on {grave.at:%Y-%m-%d %H:%M}")
    found = [each for each in (sessions_of(world, scope) if among is None else among) if each.startswith(name)]
    if name in found or not found:
        return name
    if len(name) < _SHORTEST:
        raise _too_short("session", name)
    _check_alone("session", name, found)
    return found[0]


def episode_of(name: str, world: World, scope: Scope) -> Episode:
    """The episode of the session whose id is *name*, or else of the one whose id begins so.

    Raises:
        NotFound: there is none in *scope*.
        BadInput: several sessions have ids that begin so, or *name* is too short.
    """
    get = world.kit.episodes.get
    checked_session(name)
    found = get(scope, episode_id(scope, name)) or get(scope, episode_id(scope, session_of(name, world, scope)))
    if found is None:
        where = with_episode(name, world) or elsewhere(world, scope)
        raise NotFound(f"there is no episode of a session {name!r} in {scope}{where}")
    return found


def goes_by(name: str, session: str) -> bool:
    """Whether *name* is the id *session*, or so much of its beginning that it can be named by it."""
    return session == name or (len(name) >= _SHORTEST and session.startswith(name))


def with_episode(name: str, world: World, *, is_meant: Callable[[str, str], bool] = goes_by) -> str:
    """In which scopes sessions that *name* may mean have episodes, for whoever has found none; empty if none has."""
    stored = world.kit.episodes
    return _where(world, lambda scope: any(is_meant(name, each.session_id) for each in stored.recent(scope, ALL)))


def with_session(
    name: str, world: World, is_wanted: Callable[[Scope, str], object] = lambda _scope, _session: True
) -> str:
    """In which scopes there are sessions that go by *name*, and are such as *is wanted*; empty if there are none.

    For whoever has found none. It reads all streams.
    """
    return _where(
        world,
        lambda scope: any(goes_by(name, each) and is_wanted(scope, each) for each in sessions_of(world, scope)),
    )


def with_fact(name: str, world: World) -> str:
    """In which scopes there are facts whose ids are or begin with *name*; empty if there are none."""

    def has(scope: Scope) -> bool:
        with knowledge_of(world, scope) as knowledge:
            return bool(named(name, knowledge))

    return _where(world, has)


def _where(world: World, has: Callable[[Scope], bool]) -> str:
    """The scopes for which *has* holds, for whoever has looked in another; empty if there are none."""
    found = [str(scope) for scope in world.kit.episodes.scopes() if has(scope)]
    shown = ", ".join(found[:_MOST_SCOPES]) + (", ..." if len(found) > _MOST_SCOPES else "")
    return f"; there is one in {shown}: say --scope" if found else ""


def sessions_of(world: World, scope: Scope) -> Sequence[str]:
    """The ids of all sessions that have left something in *scope*, be it that they wait, in order."""
    with_episode = (episode.session_id for episode in world.kit.episodes.recent(scope, ALL))
    told = (telling.source.session_id for telling in tellings(world.kit.facts.read(scope, embedder=NO_VECTORS).rows))
    published = stores_of(world).bus.find(Wanted(scope=scope, everything=True)).sessions
    touched = (
        session
        for stage in UNFINISHED
        for where, session in world.kit.courses.sessions(stage, limit=ALL)
        if where == scope
    )
    return sorted({*with_episode, *told, *published, *touched})


def _too_short(what: str, name: str) -> BadInput:
    return BadInput(f"{name!r} is too short to name a {what}: give at least {_SHORTEST} characters of its id")


def _check_alone(what: str, name: str, ids: Sequence[str]) -> None:
    """Raises `BadInput` where several *ids* begin with *name*."""
    if len(ids) > 1:
        shown = ", ".join(ids[:_MOST_NAMED]) + (", ..." if len(ids) > _MOST_NAMED else "")
        raise BadInput(f"{len(ids)} {what}s have an id that begins with {name!r}: {shown}")


_MOST_EARLIER = 3


def fact_lines(known: KnownFact, knowledge: Knowledge) -> Iterator[str]:
    """A fact for the eye: what is known, then from where, then what was true before or may be instead."""
    fact = known.fact
    times = f", said by {known.times_confirmed} sessions" if known.times_confirmed > 1 else ""
    state = "" if known.is_current else "  (superseded)"
    yield f"{one_line(fact.text)}{state}"
    place = place_told(fact.source.session_id, fact.source.turns)
    yield f"  {fact.category}, {known.said_at:%Y-%m-%d}, {known.trust}'s words, {place}{times}  {fact.id}"
    if gone := known.superseded:
        then = f"until {gone.valid_to:%Y-%m-%d}, then" if gone.valid_to else "now"
        yield f"  {then}: {_named(knowledge.get(gone.by))}"
        return
    yield from (f"  {line}" for line in earlier_lines(earlier_values(fact.id, knowledge)))
    for offer in offers_of(known, knowledge):
        if offer.link.kind is LinkKind.UPDATE:
            is_newer = offer.newer.fact.id == fact.id
            relation, other = ("may replace", offer.older) if is_newer else ("may be replaced by", offer.newer)
            yield f"  {relation}: {_named(other)}"


def earlier_lines(earlier: Sequence[EarlierValue]) -> Iterator[str]:
    """The latest of the values that a fact had before, and how many there are besides."""
    for each in earlier[:_MOST_EARLIER]:
        yield f"earlier, until {each.until:%Y-%m-%d}: {shortened(each.text, 90)}  {each.id}"
    if (more := len(earlier) - _MOST_EARLIER) > 0:
        yield f"and before: {counted(more, 'value')}"


def _named(known: KnownFact | None) -> str:
    return f"{shortened(known.fact.text, 90)}  {known.fact.id}" if known else "(a fact that is not there any more)"


def place_told(session_id: str, turns: Sequence[int]) -> str:
    return f"session {session_id}" + (f" turn {', '.join(map(str, turns))}" if turns else "")


def fact_object(known: KnownFact, knowledge: Knowledge) -> dict[str, Any]:
    """A fact as JSON."""
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
