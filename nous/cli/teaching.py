"""Facts taught by hand: a line as a candidate, and its ingestion for a session."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any
from uuid import uuid5

from pydantic import TypeAdapter, ValidationError

from nous.app.container import Container
from nous.bus.base import Conflict
from nous.bus.tombstones import WasForgotten, form_name, session_name
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact, Outcome, Summary
from nous.domain.errors import BadInput, Retryable
from nous.domain.event_codec import checked_name
from nous.domain.events import NAMESPACE, EpisodeSummarized, Event, FactsUnembedded
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.knowledge.candidate_filter import checked, mark_of
from nous.knowledge.decision import FactDecision, announcements
from nous.knowledge.normalize import exact_form
from nous.pipeline.fact_learner import FactLearner
from nous.summary.llm.response import is_date
from nous.text.sanitize import shortened
from workers.fact_extractor import NAME

_REFUSALS = 1000

_SUMMARY_BY_HAND = Summary(
    title="Told by hand",
    summary="",
    key_points=(),
    outcome=Outcome.INFORMATIONAL,
    outcome_rationale="It was told by hand.",
    topics=(),
)


class Teacher:
    """Ingests facts into one scope in the name of one session.

    Raises:
        BadInput: the session's name is invalid.
    """

    def __init__(self, container: Container, scope: Scope, session: str) -> None:
        self._container = container
        self._scope = scope
        self._session = checked_name(session, "the id of a session")
        self._clock = container.context.clock

    def let_back(self, candidates: Iterable[CandidateFact]) -> None:
        """Lift the suppression of forgotten *candidates*, and of the session."""
        lift = self._container.tombstones.lift
        for each in candidates:
            lift(self._scope, session_name(self._scope, self._session))
            lift(self._scope, form_name(mark_of(self._scope, exact_form(each.text))))

    def teach(self, candidates: Sequence[CandidateFact]) -> Sequence[FactDecision]:
        """Judge and store *candidates*, all or none; skip those that are forgotten meanwhile.

        Raises:
            WasForgotten: the session was forgotten.
            Retryable: other writers kept changing the scope.
        """
        cause = self._cause(candidates)
        source = Source(
            episode_id=cause.episode_id, event_id=cause.id, session_id=self._session, turns=(), said_at=self._clock()
        )
        for _ in range(_REFUSALS):
            self._check_session()
            learned = FactLearner(self._container.context).ingest(candidates, scope=self._scope, source=source)
            if not learned.append.rows:
                return learned.fact_decisions
            at = self._clock()
            events: list[Event] = [*announcements(cause, learned.fact_decisions, by=NAME, at=at)]
            if learned.waits:
                events.append(FactsUnembedded.after(cause, by=NAME, index=len(events), at=at))
            effects = Effects(writes=(learned.append,), events=tuple(events))
            if not isinstance(self._container.bus.apply(effects), Conflict):
                return learned.fact_decisions
        raise Retryable(f"other writers keep changing the facts of {self._scope}; try again")

    def _check_session(self) -> None:
        tombstone = self._container.tombstones.find(self._scope, session_name(self._scope, self._session))
        if tombstone:
            raise WasForgotten(
                f"session {self._session} of scope {self._scope} was forgotten on {tombstone.at:%Y-%m-%d %H:%M}; "
                "use --again to accept it"
            )

    def _cause(self, candidates: Sequence[CandidateFact]) -> EpisodeSummarized:
        """Return the event that causes the facts, with an id derived from session and words.

        Facts entered by hand count as an episode of their own. The same words of the same session are one cause.
        """
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
            summary=_SUMMARY_BY_HAND,
        )


def candidate(said: dict[str, Any]) -> CandidateFact:
    """Return *said*, an object with the fields of a `CandidateFact`, as a valid candidate.

    Unknown fields are ignored.

    Raises:
        BadInput: it cannot be learned, or a field is misspelt.
    """
    fields = tuple(CandidateFact.__dataclass_fields__)
    for name in said:
        if name not in fields and (meant := get_close_matches(name, fields, n=1, cutoff=0.75)):
            raise BadInput(f"{name}: is no field of a fact; {meant[0]} is")
    try:
        found = _adapter().validate_python(said)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise BadInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if found.event_date is not None and not is_date(found.event_date):
        date = shortened(found.event_date, 40)
        raise BadInput(f"event_date: {date!r} is no day, month or year in ISO 8601: 2026-03-01, 2026-03 or 2026")
    return checked(found)


@cache
def _adapter() -> TypeAdapter[CandidateFact]:
    """Return the validator of candidates, which is slow to build."""
    return TypeAdapter(CandidateFact)
