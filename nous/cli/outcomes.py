"""What became of sessions that were handed over and waited for: a row each, and all of them in a line."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from nous.bus.ledger import Whereabouts
from nous.cli.show import counted, in_words, shortened, table
from nous.episode import Episode
from nous.events import SessionEnded, episode_id
from nous.fact import Confirmed, Learned
from nous.producer import Published
from nous.runtime.track import Step, all_at_rest
from nous.store.base import NO_VECTORS
from nous.wiring import World

_LONGEST = 32
"""Characters of what became of one; `nous status SESSION` tells all of it."""

_NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a session: in words, with how many facts it taught, and how many it said that were known."""

    words: str
    title: str
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
    """The rows of those *handed over*, as far as their *chains* of steps have come, and the sums."""
    found = list(_found(world, handed_over, chains))
    yield table(("outcome", "facts", "session"), ((each.words, each.facts, each.title) for each in found))
    learned, known = sum(each.learned for each in found), sum(each.known for each in found)
    new = sum(published.receipt.fresh for _, published in handed_over)
    kinds = Counter(each.words.partition(":")[0] for each in found).most_common()
    some_new = "" if new == len(found) else f", {new:,} new"
    became = ", ".join(f"{count:,} {what}" for what, count in kinds)
    yield f"{counted(len(found), 'session')}{some_new}: {became}; {counted(learned, 'fact')}, {known:,} known"


def _found(
    world: World, handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]]
) -> Iterator[Outcome]:
    learned, known = Counter[UUID](), Counter[UUID]()
    for scope in {published.event.scope for _, published in handed_over}:
        for row in world.kit.facts.read(scope, embedder=NO_VECTORS).rows:
            match row:
                case Learned(fact=fact):
                    learned[fact.source.episode_id] += 1
                case Confirmed(source=source):
                    known[source.episode_id] += 1
                case _:
                    pass
    for path, published in handed_over:
        event, steps = published.event, chains.get(published.event.id, ())
        name = episode_id(event.scope, event.session_id)
        # A session that goes on has an episode, if at all, of what it was before.
        episode = world.kit.episodes.get(event.scope, name) if isinstance(event, SessionEnded) else None
        yield Outcome(
            words=_in_words(steps, episode),
            title=episode.summary.title if episode else path,
            has_episode=episode is not None,
            learned=learned[name] if episode else 0,
            known=known[name] if episode else 0,
        )


def troubles(
    handed_over: Sequence[tuple[str, Published]], chains: Mapping[UUID, Sequence[Step]], *, timeout: float
) -> Iterator[str]:
    """Of each that has failed, which session it is, and all of the reason; of those that are late, how many."""
    for path, published in handed_over:
        for step in chains.get(published.event.id, ()):
            if step.has_failed:
                why = f"{step.location.where}: {in_words(step.location.reason)}"
                yield f"{path}, session {published.event.session_id}: {why}"
    if late := sum(not all_at_rest(chain) for chain in chains.values()):
        yield f"{late} not dealt with after {timeout:g} s; `nous status SESSION` says where it is"


def _in_words(steps: Sequence[Step], episode: Episode | None) -> str:
    """What stopped it, if anything did; else how the session ended for the person who asked."""
    first = [step for step in steps[:1] if step.location.where is Whereabouts.SKIPPED]
    for step in (*first, *(step for step in steps if step.has_failed or not step.is_at_rest)):
        why = f": {in_words(step.location.reason)}" if step.location.reason else ""
        return shortened(f"{step.location.where}{why}", _LONGEST)
    if not steps:
        return str(Whereabouts.WAITING)
    return str(episode.summary.outcome) if episode else str(Whereabouts.DONE)
