"""What an operator sees of an event: its envelope and its fields, and nothing that anybody has said."""

import orjson
from hypothesis import given
from hypothesis import strategies as st

from nous.cli.dead_letters import envelope, payload
from nous.domain.event_codec import LARGEST

SAID = "tell my boss"
leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.just(SAID)
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner))


@given(values)
def test_no_payload_says_what_is_in_it(value: object) -> None:
    lines = payload(orjson.dumps({"data": value}))

    assert lines
    assert not any("boss" in line for line in lines)


def test_fields_are_told_with_their_types_and_sizes() -> None:
    data = {"transcript": "x" * 1200, "messages": [1, 2], "scope": {"a": 1}, "ok": True, "none": None, "at": 3}

    assert payload(orjson.dumps({"data": data})) == [
        "transcript: text of 1,200 characters",
        "messages: list of 2",
        "scope: object of 1",
        "ok: true or false",
        "none: nothing",
        "at: number",
    ]
    assert payload(orjson.dumps({"data": {f"f{n}": n for n in range(90)}}))[-1] == "... 65 more fields"


def test_credentials_are_masked_where_people_put_them() -> None:
    raw = orjson.dumps({"id": "password=hunter22", "data": {"sk-ant-abcdefghijklmnop1234": 1, "scope": "a/b/c"}})

    assert envelope(raw) == {"id": "[hidden]", "scope": "a/b/c"}
    assert payload(raw)[0] == "[hidden]: number"


def test_what_is_no_event_is_told_by_its_size() -> None:
    large = b'{"data": {"text": "' + b"x" * LARGEST + b'"}}'

    for raw in (b"tell my boss", b"[1]"):
        assert (envelope(raw), payload(raw)) == ({}, [f"no JSON object with a field: {len(raw)} bytes"])
    assert envelope(large) == {}
    assert payload(large) == [f"not read: it has {len(large):,} bytes, and no event may have more than {LARGEST:,}"]
    assert envelope(b'{"data": {"scope": ' + b"[" * 500 + b"]" * 500 + b"}}")["scope"].startswith("[[[")
