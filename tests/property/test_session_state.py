"""How far a session has come does not depend on the order in which that was said, nor on how often."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from builders.contexts import context_over
from builders.events import event_of
from builders.stores import WholeStore
from hypothesis import given
from hypothesis import strategies as st

from nous.bus.base import Committed
from nous.domain.events import Event, SessionEnded, SessionTouched
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus
from nous.pipeline.worker import Worker
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from workers.episode_summarizer import WORKER as SUMMARIZER
from workers.session_keeper import WORKER as KEEPER

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
NOW = NOON + timedelta(hours=2)


def moment(minute: int) -> datetime:
    return NOON + timedelta(minutes=minute)


def touched(minute: int, agent: str, path: str | None, *, background: bool) -> SessionTouched:
    name, dataref = f"touched {minute} {agent} {path} {background}", f"file:///{path}" if path else None
    more = {"agent_id": agent, "dataref": dataref, "background": background}
    return event_of(SessionTouched, name, time=moment(minute), **more)


def ended(minute: int, last: int | None) -> SessionEnded:
    more = {"transcript": "User: hi", "ended_at": None if last is None else moment(last)}
    return event_of(SessionEnded, f"ended {minute} {last}", time=moment(minute), **more)


MINUTES = st.integers(0, 9)
TOUCHES = st.builds(
    touched, MINUTES, st.sampled_from("ab"), st.none() | st.sampled_from("xy"), background=st.booleans()
)
ENDS = st.builds(ended, MINUTES, st.none() | MINUTES)
STORE = WholeStore()
SAID = st.lists(TOUCHES | ENDS, min_size=1, max_size=8)


def say(events: Sequence[Event]) -> SessionState | None:
    """What is known after *events*, each dealt with by its worker."""
    STORE.client.flushall()
    context = context_over(STORE, transcripts=StoredTranscripts(STORE, StoreKeys()), clock=lambda: NOW)
    for event in events:
        worker: Worker = KEEPER if isinstance(event, SessionTouched) else SUMMARIZER
        assert isinstance(STORE.bus.apply(worker.handler_factory(context)(event)), Committed)
    return context.session_states.session_state(Scope(), "s1")


@given(said=SAID, data=st.data())
def test_in_any_order_and_however_often_it_comes_to_the_same(said: list[Event], data: st.DataObject) -> None:
    again = data.draw(st.permutations([*said, *data.draw(st.lists(st.sampled_from(said), max_size=3))]))

    assert say(again) == say(said)


@given(said=SAID)
def test_a_session_is_open_exactly_when_it_was_active_after_all_that_its_ends_speak_of(said: list[Event]) -> None:
    active = [each.time for each in said if isinstance(each, SessionTouched) and not each.background]
    ends = [each for each in said if isinstance(each, SessionEnded)]
    over = [min(each.time, each.ended_at + timedelta(minutes=1)) if each.ended_at else each.time for each in ends]
    is_open = bool(active) and (not over or max(active) > max(over))

    known = say(said)

    assert known is not None
    assert known.status is (SessionStatus.OPEN if is_open else SessionStatus.ENDED)
    assert (known.touched.at if known.touched else None) == max(active, default=None)
