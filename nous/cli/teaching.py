"""Facts told by hand, learned in a scope that others teach and forget meanwhile."""

from collections.abc import Iterable, Sequence
from uuid import uuid5

from nous.bus.base import Refused
from nous.bus.tombstones import WasForgotten, form_name, session_name
from nous.codec import checked_name
from nous.effects import Effects
from nous.episode import CandidateFact, Outcome, Summary
from nous.errors import Retryable
from nous.events import NAMESPACE, EpisodeSummarized, Event, FactsUnembedded
from nous.fact import Source
from nous.learning.announcing import announcements
from nous.learning.finding import Finding
from nous.learning.forgotten import mark_of
from nous.learning.normalise import exact_form
from nous.scope import Scope
from nous.wiring import World
from workers.fact_extractor import NAME

_REFUSALS = 1000

_TOLD = Summary(
    title="Told by hand",
    summary="",
    key_points=(),
    outcome=Outcome.INFORMATIONAL,
    outcome_rationale="It was told by hand.",
    topics=(),
)


class Teacher:
    """Teaches one scope, as one session. Raises `BadInput` where no session can be called so."""

    def __init__(self, world: World, scope: Scope, session: str) -> None:
        self._world = world
        self._scope = scope
        self._session = checked_name(session, "the id of a session")
        self._clock = world.kit.clock

    def let_back(self, candidates: Iterable[CandidateFact]) -> None:
        """Let back what was forgotten of *candidates*, and the session if it was."""
        lift = self._world.tombstones.lift
        for each in candidates:
            lift(self._scope, session_name(self._scope, self._session))
            lift(self._scope, form_name(mark_of(self._scope, exact_form(each.text))))

    def teach(self, candidates: Sequence[CandidateFact]) -> Sequence[Finding]:
        """Judge and store *candidates*, all or none of them; what is forgotten meanwhile is passed over.

        Raises:
            WasForgotten: the session was.
            Retryable: others taught the same scope all the time.
        """
        cause = self._cause(candidates)
        source = Source(
            episode_id=cause.episode_id, event_id=cause.id, session_id=self._session, turns=(), said_at=self._clock()
        )
        for _ in range(_REFUSALS):
            self._check_session()
            lesson = self._world.kit.learner.teach(candidates, scope=self._scope, source=source)
            if not lesson.append.rows:
                return lesson.findings
            at = self._clock()
            events: list[Event] = [*announcements(cause, lesson.findings, by=NAME, at=at)]
            if lesson.waits:
                events.append(FactsUnembedded.after(cause, by=NAME, index=len(events), at=at))
            effects = Effects(writes=(lesson.append,), events=tuple(events))
            if not isinstance(self._world.bus.apply(effects), Refused):
                return lesson.findings
        raise Retryable(f"{self._scope} is being taught by others without a pause; try again")

    def _check_session(self) -> None:
        grave = self._world.tombstones.find(self._scope, session_name(self._scope, self._session))
        if grave:
            raise WasForgotten(
                f"session {self._session} of scope {self._scope} was forgotten on {grave.at:%Y-%m-%d %H:%M}; "
                "--again lets it back"
            )

    def _cause(self, candidates: Sequence[CandidateFact]) -> EpisodeSummarized:
        """What is told counts as an episode of its own. The same words of the same session are one cause."""
        words = "\n".join(exact_form(candidate.text) for candidate in candidates)
        event_id = uuid5(NAMESPACE, f"told\n{self._scope}\n{self._session}\n{words}")
        return EpisodeSummarized(
            id=event_id,
            time=self._clock(),
            source="nous/facts-learn",
            scope=self._scope,
            agent_id="default",
            session_id=self._session,
            trace_id=event_id,
            episode_id=uuid5(NAMESPACE, f"told\n{self._scope}\n{self._session}"),
            version="",
            summary=_TOLD,
        )
