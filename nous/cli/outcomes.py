"""What became of sessions that were handed over and waited for: a row each, and all of them in a line."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from nous.bus.ledger import Whereabouts
from nous.cli.show import counted, in_words, table
from nous.episode import Episode
from nous.events import SessionEnded, episode_id
from nous.fact import Confirmed, Learned
from nous.producer import Published
from nous.readable import shortened
from nous.runtime.track import Step, all_at_rest
from nous.scope import Scope
from nous.store.base import NO_VECTORS
from nous.wiring import World

_LONGEST = 32
"""Characters of what became of one; `nous status SESSION` tells all of it."""

_NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a session: in words, with how many facts it taught, and how many it said that were known.

    Those that it taught when it was published before, and was shorter, are counted too.
    """

    words: str
    name: str
    is_new: bool
    has_episode: bool
    learned: int = 0
    known: int = 0

    @property
    def facts(self) -> str:
        told = ((self.learned, counted(self.learned, "fact")), (self.known, f"{self.known:,} known"))
        return ", ".join(words for count, words in told if count) or ("none" if self.has_episode else _NONE)


def outcomes(
    world: World, handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]]
) -> Iterator[str]:
    """A row for each session of those *handed over*, as far as their *chains* of steps have come, and the sums."""
    found = list(_found(world, handed_over, chains))
    yield table(("outcome", "facts", "session"), ((each.words, each.facts, each.name) for each in found))
    learned, known = sum(each.learned for each in found), sum(each.known for each in found)
    new = sum(each.is_new for each in found)
    kinds = Counter(each.words.partition(":")[0] for each in found).most_common()
    some_new = "" if new == len(found) else f", {new:,} new"
    became = ", ".join(f"{count:,} {what}" for what, count in kinds)
    yield f"{counted(len(found), 'session')}{some_new}: {became}; {counted(learned, 'fact')}, {known:,} known"


def _found(
    world: World, handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]]
) -> Iterator[Outcome]:
    learned, known = _facts_of(world, {published.event.scope for _, published in handed_over})
    for each in _by_session(handed_over).values():
        own = {published.event.id: chains.get(published.event.id, ()) for _, published in each}
        event = each[0][1].event
        # A session that goes on has an episode, if at all, of what it was before.
        found = world.kit.episodes.get(event.scope, episode_id(event.scope, event.session_id))
        episode = found if isinstance(event, SessionEnded) else None
        yield Outcome(
            words=_in_words(tuple(own.values()), episode),
            name=_name(dict.fromkeys(path for path, _ in each), episode),
            is_new=any(published.receipt.fresh for _, published in each),
            has_episode=episode is not None,
            learned=len(learned[episode.id]) if episode else 0,
            known=len(known[episode.id] - learned[episode.id]) if episode else 0,
        )


def _facts_of(world: World, scopes: Iterable[Scope]) -> tuple[Mapping[UUID, set[UUID]], Mapping[UUID, set[UUID]]]:
    """The facts that each episode was the first to say, and those that it said and others had said before."""
    learned, known = defaultdict[UUID, set[UUID]](set), defaultdict[UUID, set[UUID]](set)
    for scope in scopes:
        for row in world.kit.facts.read(scope, embedder=NO_VECTORS).rows:
            match row:
                case Learned(fact=fact):
                    learned[fact.source.episode_id].add(fact.id)
                case Confirmed(source=source):
                    known[source.episode_id].add(row.fact_id)
                case _:
                    pass
    return learned, known


def _by_session(handed_over: Sequence[tuple[str, Published]]) -> Mapping[str, Sequence[tuple[str, Published]]]:
    """Those *handed over*, which are of one scope, by session: two files may be of one."""
    found = defaultdict[str, list[tuple[str, Published]]](list)
    for path, published in handed_over:
        found[published.event.session_id].append((path, published))
    return found


def _name(paths: Iterable[str], episode: Episode | None) -> str:
    if episode is None:
        return ", ".join(paths)
    return f"{episode.summary.title} ({', '.join(Path(path).name for path in paths)})"


def troubles(
    handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]], *, timeout: float
) -> Iterator[str]:
    """Of each that has failed, which session it is, and all of the reason; of those that are late, how many."""
    for path, published in {published.event.id: (path, published) for path, published in handed_over}.values():
        for step in chains.get(published.event.id, ()):
            if step.has_failed:
                why = f"{step.location.where}: {in_words(step.location.reason)}"
                yield f"{path}, session {published.event.session_id}: {why}"
    if late := sum(not all_at_rest(chain) for chain in chains.values()):
        yield f"{late} not dealt with after {timeout:g} s; `nous status SESSION` says where it is"


def _in_words(chains: Sequence[Sequence[Step]], episode: Episode | None) -> str:
    """What stopped it, if anything did; else how the session ended for the person who asked."""
    first = [step for chain in chains for step in chain[:1] if step.location.where is Whereabouts.SKIPPED]
    skipped = first[:1] if len(first) == len(chains) else []
    steps = [step for chain in chains for step in chain]
    for step in (*skipped, *(step for step in steps if step.has_failed or not step.is_at_rest)):
        why = f": {in_words(step.location.reason)}" if step.location.reason else ""
        return shortened(f"{step.location.where}{why}", _LONGEST)
    if not all(chains):
        return str(Whereabouts.WAITING)
    return str(episode.summary.outcome) if episode else str(Whereabouts.DONE)
