"""What an entry of a stream says of itself is what whoever handles it reads; and what is told in its place."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest

from nous.bus.erasure import ErasureTarget, amended, said
from nous.domain.errors import BadInput
from nous.domain.event_codec import decode, encode
from nous.domain.events import FactsUnembedded
from nous.domain.scope import Scope
from nous.knowledge.decision import unembedded

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
SUMMARIZED: Mapping[str, Any] = {
    "session_id": "s",
    "episode_id": str(UUID(int=3)),
    "version": "v",
    "summary": {
        **dict.fromkeys(("title", "summary", "outcome_rationale"), "words"),
        **{name: [] for name in ("key_points", "topics", "open_threads")},
        "outcome": "partial",
    },
    "candidate_facts": ["port is 1", "other"],
}


SCOPES = [
    *({}, None, "", [], {"project": "town"}, {"tenant": "a", "agent": "b", "project": "c"}),
    *("town", 5, ["town"], [["project", "town"]], {"project": ["x"]}, {"project": {"x": 1}}, {"project": 5}),
    *({"project": None}, {"project": ""}, {"project": "a/b"}, {"project": "a\x00"}),
]


def test_an_entry_that_is_refused_for_more_in_its_scope_goes_with_the_scope_that_the_rest_names() -> None:
    scope = {"tenant": "a", "agent": "b", "project": "c", "more": 1}
    told = said(orjson.dumps({"data": {"session_id": "s", "scope": scope}}), "session_ended")

    assert told
    assert told.scope == Scope("a", "b", "c")


@pytest.mark.parametrize("scope", SCOPES)
def test_the_scope_of_an_entry_is_the_one_that_its_handler_reads(scope: object) -> None:
    raw = orjson.dumps({"data": {"session_id": "s", "scope": scope, "transcript": "User: hello"}})
    try:
        read = decode(raw, type_hint="session_ended").scope
    except BadInput:
        read = None

    told = said(raw, "session_ended")

    assert told
    assert told.scope == read


def test_an_entry_that_holds_no_data_tells_no_scope_and_goes_with_its_session() -> None:
    told = said(orjson.dumps({"subject": "s", "data": "words"}), "session_ended")

    assert told
    assert told.scope is None
    assert ErasureTarget(scope=Scope(project="town"), session_id="s").takes(told)


def test_what_is_announced_of_a_scope_is_of_no_session() -> None:
    told = said(encode(unembedded(FactsUnembedded, Scope(), state="1", at=NOON)), "facts_unembedded")

    assert told
    assert (told.scope, told.session_id) == (Scope(), None)
    assert not ErasureTarget(scope=Scope(), facts=frozenset({UUID(int=1)})).takes(told)
    assert ErasureTarget(scope=Scope(), everything=True).takes(told)


def test_what_is_told_in_the_place_of_an_entry_is_the_same_event() -> None:
    raw = orjson.dumps({"data": SUMMARIZED})
    before = decode(raw, type_hint="episode_summarized", accepted_at=NOON)

    left = amended(raw, ["port is 1"], event_id=before.id)

    after = decode(left or b"", type_hint="episode_summarized", accepted_at=NOON)
    assert (after.id, after.time) == (before.id, NOON)
