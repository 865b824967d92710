"""Queries of CLI and Python API: search facts and episodes, gather notes for a new session."""

from collections.abc import Sequence
from dataclasses import dataclass

from nous.context.notes import ContextNotes, arranged, is_trivial, left_out, ranked
from nous.domain.episode import Episode, Trust, episode_id
from nous.domain.errors import BadInput, NotFound
from nous.domain.scope import Scope
from nous.embedding.base import MissingEmbedder, present
from nous.knowledge.fact_index import KnownFact
from nous.knowledge.open_pairs import open_pairs
from nous.retrieval.query import Filters, Hit, HitKind, asked
from nous.retrieval.search import Corpus, search
from nous.store.fact_cache import Memory

SEARCHED_EPISODES = 1000  # episodes of a scope that are searched: those that ended last
_MOST_NOTES = 50
_MOST_NAMED = 5
SHORTEST = 4  # characters that an id prefix needs to name a fact or a session
_ALL = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first; `lacks` says why the search was by words alone, if it was."""

    hits: Sequence[Hit]
    lacks: str | None
    is_scope_empty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMemory:
    episode: Episode
    facts: tuple[KnownFact, ...]


def search_memory(
    context: Memory, query: str, scope: Scope, *, filters: Filters, limit: int, everything: bool = False
) -> SearchResult:
    """Rank the facts and episodes of *scope* by words, meaning and files.

    *everything* includes superseded facts beside those that replaced them. Raises `BadInput` for a blank query or a
    *limit* below 1.
    """
    if not query.strip():
        raise BadInput("the query is empty: say what to look for")
    if limit < 1:
        raise BadInput(f"a limit of {limit}: it has to be at least 1")
    embedder = present(context.embedder)
    question = asked(query, embedder.embed)
    episodes = context.episodes.recent(scope, limit=SEARCHED_EPISODES)
    ids = [episode.id for episode in episodes]
    vectors = context.episodes.episode_vectors(scope, ids, embedder=embedder.id)
    with context.fact_cache.scope_index(context.facts, scope, embedder) as index:
        corpus = Corpus(scope_index=index, episodes=episodes, vectors=vectors, only=filters)
        hits = search(question, corpus, limit=limit, everything=everything)
        is_empty = not episodes and not any(index.knowledge)
    return SearchResult(hits=hits, lacks=question.lacks, is_scope_empty=is_empty)


def context_notes(context: Memory, query: str, scope: Scope) -> tuple[ContextNotes, int]:
    """Gather notes for a new session, and count the facts that are withheld from it.

    Facts near *query* come first. Facts that only a tool or a page has said are withheld.
    """
    embedder = MissingEmbedder() if is_trivial(query) else present(context.embedder)
    question = asked("", None) if is_trivial(query) else asked(query, embedder.embed)
    with context.fact_cache.scope_index(context.facts, scope, embedder) as index:
        only = Filters(kinds=(HitKind.FACT,), trust=Trust.ASSISTANT)
        hits = search(question, Corpus(scope_index=index, only=only), limit=_MOST_NOTES) if question.text else ()
        pairs = open_pairs(index.knowledge)
        first = {hit.id: index.knowledge[hit.id] for hit in hits if hit.superseded_by is None}
        others = (known for known in ranked(index.knowledge) if known.fact.id not in first)
        facts = arranged([*first.values(), *others], pairs)
        before = ((known.fact.id, index.knowledge.earlier(known.fact.id)) for known in facts if known.replaces)
        earlier = {fact_id: found[0] for fact_id, found in before if found}
        withheld = left_out(index.knowledge)
    episode = next(iter(context.episodes.recent(scope, 1)), None)
    anchor = next(iter(context.anchored_summaries.of_scope(scope)), None)
    is_newer = anchor and (episode is None or anchor.at >= episode.ended_at)
    last = anchor if is_newer else None
    return ContextNotes(facts=facts, earlier=earlier, offers=pairs, anchor=last, episode=episode), withheld


def find_episode(context: Memory, name: str, scope: Scope) -> Episode:
    """Return the episode with an id, or a session id, that is or begins with *name*.

    A whole session id comes first, then a whole id of nous, then one that producers gave to episodes. Raises `NotFound`
    if there is none in *scope*, and `BadInput` if several have that id or begin so, or *name* is too short.
    """
    if exact := context.episodes.get(scope, episode_id(scope, name)):
        return exact
    recent = context.episodes.recent(scope, _ALL)
    if by_id := next((each for each in recent if str(each.id) == name.casefold()), None):
        return by_id
    if given := [each for each in recent if each.external_id == name]:
        if len(given) > 1:
            sessions = some_of([each.session_id for each in given])
            raise BadInput(f"{len(given)} sessions have the episode id {name!r}: {sessions}")
        return given[0]
    found = [each for each in recent if each.session_id.startswith(name) or str(each.id).startswith(name.casefold())]
    if not found:
        raise NotFound(f"there is no episode of a session {name!r} in {scope}; `nous status SESSION` says if it waits")
    check_prefix("session", name, [each.session_id for each in found])
    return found[0]


def episodes_given(context: Memory, name: str, scope: Scope) -> Sequence[Episode]:
    """Return the episodes to which producers gave the id *name*."""
    return [each for each in context.episodes.recent(scope, _ALL) if each.external_id == name]


def check_prefix(what: str, name: str, ids: Sequence[str]) -> None:
    """Raise `BadInput` if *name* is too short to be a prefix, or several *ids* begin with it."""
    if len(name.replace("-", "") if what == "fact" else name) < SHORTEST:
        raise BadInput(f"{name!r} is too short to name a {what}: give at least {SHORTEST} characters of its id")
    if len(ids) > 1:
        raise BadInput(f"{len(ids)} {what}s have an id that begins with {name!r}: {some_of(ids)}")


def some_of(names: Sequence[object]) -> str:
    return ", ".join(map(str, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")


def known_facts(context: Memory, scope: Scope, *, superseded: bool = False) -> tuple[KnownFact, ...]:
    """Return the facts of *scope* as learned; with *superseded*, also those that were replaced."""
    with context.fact_cache.current(context.facts, scope, MissingEmbedder()) as knowledge:
        return tuple(known for known in knowledge if superseded or known.is_current)


def session_memory(context: Memory, episode: Episode) -> SessionMemory:
    """Collect the facts that the session of *episode* is a source of, superseded ones included."""
    with context.fact_cache.current(context.facts, episode.scope, MissingEmbedder()) as knowledge:
        facts = tuple(known for known in knowledge if any(each.episode_id == episode.id for each in known.sources))
    return SessionMemory(episode=episode, facts=facts)
