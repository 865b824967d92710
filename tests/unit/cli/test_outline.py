"""What an operator sees of an event: its envelope and its shape, and nothing that anybody has said."""

import orjson
from hypothesis import given
from hypothesis import strategies as st

from nous.cli.outline import envelope, payload
from nous.domain.event_codec import LARGEST

SAID = "tell my boss"
leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.just(SAID)
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner))


@given(values)
def test_no_payload_says_what_is_in_it(value: object) -> None:
    lines = payload(orjson.dumps({"data": value}))

    assert lines
    assert not any("boss" in line for line in lines)


def test_fields_are_told_with_their_types_and_the_range_of_their_sizes() -> None:
    turns = [{"role": "user", "content": "x" * 12}, {"role": "user", "content": "x" * 1200, "at": 3}]

    assert payload(orjson.dumps({"data": {"transcript": turns, "ok": True, "none": None}})) == [
        "data: object",
        "  transcript: list of 2",
        "    each: object",
        "      role: text of 4 characters",
        "      content: text of 12 to 1,200 characters",
        "      at: number",
        "  ok: true or false",
        "  none: nothing",
    ]


def test_many_fields_and_deep_ones_are_not_told_one_by_one() -> None:
    deep: object = SAID
    for _ in range(50):
        deep = {"a": deep}

    assert len(payload(orjson.dumps({"data": deep}))) == 5
    assert payload(orjson.dumps({"data": {f"f{n}": n for n in range(90)}}))[-1] == "  ... 65 more fields"


def test_credentials_are_masked_where_people_put_them() -> None:
    raw = orjson.dumps({"id": "password=hunter22", "data": {"sk-ant-abcdefghijklmnop1234": 1, "scope": "a/b/c"}})

    assert envelope(raw) == {"id": "[hidden]", "scope": "a/b/c"}
    assert payload(raw)[1] == "  [hidden]: number"


def test_what_is_no_event_is_told_by_its_size() -> None:
    assert (envelope(b"tell my boss"), payload(b"tell my boss")) == ({}, ["no JSON object: 12 bytes"])
    assert payload(b"[1]") == ["no JSON object: 3 bytes"]


def test_of_what_is_too_large_to_be_an_event_only_that_is_said() -> None:
    raw = b'{"data": {"text": "' + b"x" * LARGEST + b'"}}'

    assert payload(raw) == [f"not read: it has {len(raw):,} bytes, and no event may have more than {LARGEST:,}"]
    assert envelope(raw) == {}


def test_an_envelope_may_be_nested_as_deeply_as_can_be_read() -> None:
    raw = b'{"data": {"scope": ' + b"[" * 500 + b"]" * 500 + b"}}"

    assert envelope(raw) == {"scope": "nested too deeply to be shown"}
