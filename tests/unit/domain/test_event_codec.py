"""Events on the wire: what is written is read back, what is brief is completed, what is wrong is named."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nous.domain import record_codec
from nous.domain.episode import CandidateFact, Category, Outcome, Summary, episode_id
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.event_codec import UnknownEvent, decode, encode
from nous.domain.events import EpisodeSummarized, SessionEnded, kinds
from nous.domain.scope import NO_SESSION, Scope
from nous.domain.session_state import covered_by_episode

SUMMARY = Summary(
    title="Fix the tests",
    summary="The tests were fixed.",
    key_points=("The clock was wrong.",),
    outcome=Outcome.RESOLVED,
    outcome_rationale="They pass.",
    topics=("tests",),
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DEEP: Any = orjson.loads("[" * 500 + "]" * 500)
"""Nested deeper than orjson itself would write."""


def told(data: dict[str, Any], **envelope: Any) -> Any:
    return decode(json.dumps({**envelope, "data": data}), type_hint="session_ended", accepted_at=NOW)


def test_an_event_is_read_back_as_it_was_written(ended: Any) -> None:
    event = ended()

    assert decode(encode(event), type_hint="session_ended") == event


def test_an_event_is_a_cloud_event(ended: Any) -> None:
    event = ended()

    message = orjson.loads(encode(event))

    assert message["specversion"] == "1.0"
    assert (message["type"], message["dataschema"]) == ("session_ended", "urn:nous:session_ended:1")
    assert (message["id"], message["subject"], message["correlationid"]) == (str(event.id), "s1", str(event.trace_id))
    assert message["data"]["scope"] == {"tenant": "default", "agent": "default", "project": "default"}


def test_what_stands_for_no_session_is_read_of_a_scope_alone() -> None:
    data = {"session_id": NO_SESSION}

    assert decode(json.dumps({"data": data}), type_hint="facts_unembedded").session_id == NO_SESSION
    with pytest.raises(BadInput, match=r"data\.session_id cannot be 'no session"):
        told(data)


def test_what_follows_keeps_the_trace_and_points_to_its_cause(ended: Any) -> None:
    cause = ended()

    follows = EpisodeSummarized.after(cause, by="w", at=NOW, episode_id=cause.id, version="v", summary=SUMMARY)

    assert (follows.trace_id, follows.caused_by) == (cause.trace_id, cause.id)
    assert follows.id == cause.next_id("w")
    assert decode(encode(follows), type_hint="episode_summarized") == follows


def test_all_that_two_workers_say_of_one_cause_are_events_of_their_own(ended: Any) -> None:
    cause, other = ended("s1"), ended("s2")

    said = [each.next_id(by, index) for each in (cause, other) for by in ("v", "w") for index in (0, 1)]

    assert len(set(said)) == 8


def test_what_a_brief_producer_left_out_derives_from_what_it_said() -> None:
    events = [told({"session_id": "s1", "transcript": "User: hi"}) for _ in range(2)]

    assert events[0] == events[1]
    assert (events[0].time, events[0].scope, events[0].agent_id) == (NOW, Scope(), "default")


def test_unknown_fields_are_passed_over() -> None:
    event = told({"session_id": "s1", "transcript": "User: hi", "mood": "sunny"}, comexampleextension="x")

    assert isinstance(event, SessionEnded)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"transcript": "User: hi"}, "session_id"),
        ({"session_id": ""}, "session_id"),
        ({"session_id": " "}, "session_id"),
        ({"session_id": "s", "agent_id": " "}, "agent_id"),
        ({"session_id": "a\nb"}, "session_id"),
        ({"session_id": "x" * 401}, "session_id"),
        ({"session_id": "s", "transcript": 5}, "data.transcript"),
        ({"session_id": "s", "scope": {"tenant": "a/b"}}, "scope"),
        ({"session_id": "s", "bogus": DEEP}, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_named(data: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        told(data)


def test_a_time_without_a_zone_is_taken_for_utc() -> None:
    event = told({"session_id": "s", "ended_at": "2026-01-02T00:00:00"}, time="2026-01-02T00:00:00")

    assert (event.time.tzinfo, event.ended_at.tzinfo) == (UTC, UTC)


def test_a_complaint_never_quotes_the_content() -> None:
    with pytest.raises(BadInput) as caught:
        told({"session_id": "s", "transcript": {"secret": "hunter2"}, "bytes": "hunter2"})

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("envelope", [{"type": "session_teleported"}, {"dataschema": "urn:nous:session_ended:2"}])
def test_a_type_or_version_of_another_release_is_told_apart_from_bad_input(envelope: dict[str, str]) -> None:
    with pytest.raises(UnknownEvent):
        told({"session_id": "s"}, **envelope)


@given(st.binary(max_size=300))
def test_no_bytes_are_worse_than_bad_input(raw: bytes) -> None:
    try:
        decode(raw, type_hint="session_ended")
    except BadInput:
        return


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_json_is_worse_than_bad_input(data: Any) -> None:
    try:
        decode(orjson.dumps({"data": data}), type_hint="session_ended")
    except (BadInput, orjson.JSONEncodeError):
        return


def test_an_event_of_too_many_values_is_refused() -> None:
    with pytest.raises(BadInput, match="data has more than 100,000 values"):
        told({"session_id": "s1", "git": {"a": [[{}] * 60_000, [[]] * 60_000]}})


WRITTEN = {"title": "t", "summary": "s", "key_points": [], "outcome": "resolved", "outcome_rationale": "", "topics": []}


def foreign(*, envelope: dict[str, str] | None = None, **data: Any) -> Any:
    """Decode an episode as a producer of another make writes it."""
    message = {**(envelope or {}), "data": {"session_id": "s1", "summary": WRITTEN, **data}}
    return decode(orjson.dumps(message), type_hint="episode_summarized", accepted_at=NOW)


def test_a_scope_may_be_written_as_text() -> None:
    assert foreign(scope="acme/coder/shop").scope == Scope("acme", "coder", "shop")
    assert foreign(scope="shop").scope == Scope(project="shop")
    with pytest.raises(BadInput, match=r"data\.scope: .* is not a scope"):
        foreign(scope="a/b/c/d")


@pytest.mark.parametrize("other", [None, 5, ["shop"], "", "a/b/c/d"])
def test_what_is_no_scope_is_refused_by_its_value(other: object) -> None:
    with pytest.raises(BadInput):
        Scope.parse(other)


def test_an_episode_without_id_and_version_gets_those_that_derive_from_it() -> None:
    first, again, other = (foreign(candidate_facts=[text]) for text in ("a b", "a b", "c d"))

    assert first.episode_id == again.episode_id == other.episode_id == episode_id(Scope(), "s1")
    assert first.version == again.version != other.version


def test_ids_of_any_form_become_the_same_uuid_each_time() -> None:
    envelope = {"id": "ep-17", "correlationid": "run 5", "causationid": "step 2"}

    first, again = (foreign(envelope=envelope, episode_id="episode-17") for _ in range(2))

    assert first == again
    assert len({first.id, first.trace_id, first.caused_by, first.episode_id}) == 4


def test_a_candidate_that_cannot_be_read_is_named_and_refuses_the_event() -> None:
    tabs = {"text": "Use tabs", "category": "rule", "turns": [3]}

    event = foreign(candidate_facts=["It runs on port 1", " ", tabs])
    with pytest.raises(BadInput, match=r"candidate_facts\.1\.confidence"):
        foreign(candidate_facts=["It runs on port 1", {"text": "It runs on port 2", "confidence": 9}])

    rule = CandidateFact(text="Use tabs", category=Category.RULE, turns=(3,))
    assert event.candidate_facts == (CandidateFact(text="It runs on port 1"), rule)


WIRE = Path(__file__).parents[2] / "wire"
FILES = sorted(WIRE.glob("*/*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_released_form_is_read(path: Path) -> None:
    kind = path.name.partition(".")[0]

    event = decode(path.read_bytes(), type_hint=kind)

    assert event.type == kind
    assert decode(encode(event), type_hint=kind) == event


def test_what_this_release_writes_is_what_it_released() -> None:
    for path in WIRE.glob("v1/*.json"):
        if ".minimal" not in path.name:
            event = decode(path.read_bytes(), type_hint=path.name.partition(".")[0])
            assert orjson.loads(encode(event)) == orjson.loads(path.read_bytes()), path.name


def test_every_event_has_a_released_form() -> None:
    ours = {name for name, kind in kinds().items() if kind.__module__.startswith("nous.")}

    assert ours <= {path.name.partition(".")[0] for path in FILES}


@dataclass(frozen=True)
class Note:
    text: str
    marks: tuple[int, ...] = field(default=())


def test_a_record_is_read_as_it_was_written() -> None:
    assert record_codec.decode(Note, record_codec.encode(Note("größer 🌍", (1, 2)))) == Note("größer 🌍", (1, 2))


def test_fields_of_another_release_are_ignored_or_have_a_default() -> None:
    assert record_codec.decode(Note, b'{"text":"a","colour":"red"}') == Note("a")


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(BadInput, match="Note cannot be stored"):
        record_codec.encode(Note("half a pair: \ud800"))


def test_what_is_no_such_record_is_named_without_its_content() -> None:
    with pytest.raises(Misconfigured, match=r"no Note that this release can read \(marks\.0\)") as caught:
        record_codec.decode(Note, b'{"text":"secret","marks":["secret"]}')

    assert "secret" not in str(caught.value)


MOMENT = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize("ended_at", [LAST, LAST - timedelta(seconds=30), MOMENT + timedelta(days=30)])
@pytest.mark.parametrize("time", [MOMENT, LAST])
def test_an_end_that_was_said_to_come_in_years_covers_all_until_it_was_said(
    ended: Any, time: datetime, ended_at: datetime
) -> None:
    assert covered_by_episode(ended(time=time, ended_at=ended_at, dataref=None), now=MOMENT) == MOMENT


@pytest.mark.parametrize(("seconds", "covers"), [(3600, 3540), (60, 0), (59, 0), (0, 0), (-3600, 0)])
def test_what_was_sent_along_covers_a_minute_more_than_its_last_entry(ended: Any, seconds: int, covers: int) -> None:
    end = ended(time=MOMENT, ended_at=MOMENT - timedelta(seconds=seconds), dataref=None)

    assert covered_by_episode(end, now=MOMENT) == MOMENT - timedelta(seconds=covers)
