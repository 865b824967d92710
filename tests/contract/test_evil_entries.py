"""Whatever a foreign producer writes, a bus sets it aside with a reason, and hands on its neighbours."""

from typing import Any

import pytest

from nous.bus.base import Subscription
from nous.domain.errors import BadInput
from nous.domain.event_codec import LARGEST
from nous.domain.events import SessionEnded

SUMMARIZER = Subscription("episode-summarizer", SessionEnded)
LONGEST_REASON = 1000
LONG = "x" * 5_000_000
DEEP = "[" * 10_000 + "]" * 10_000

TOO_MUCH = b'{"data": {"session_id": "s1", "transcript": "' + b"x" * LARGEST + b'"}}'
EVIL: dict[str, str | bytes] = {
    "deep data": f'{{"data": {DEEP}}}',
    "a zero byte": '{"data": {"session_id": "s\0"}}',
    "half a character": r'{"data": {"session_id": "\ud800"}}',
    "not UTF-8": b'{"data": {"session_id": "\xff\xfe"}}',
    "a number without end": '{"data": {"session_id": "s1", "bytes": ' + "9" * 100_000 + "}}",
    "a long name": f'{{"data": {{"session_id": "{LONG}"}}}}',
    "nothing": "",
    "too much": TOO_MUCH,
}


@pytest.mark.parametrize("raw", EVIL.values(), ids=EVIL)
def test_it_is_set_aside_with_a_reason_and_its_neighbours_are_handed_on(world: Any, ended: Any, raw: Any) -> None:
    world.publish(ended("before"))
    world.foreign_append(raw if isinstance(raw, bytes) else raw.encode())
    world.publish(ended("after"))

    assert [d.event.session_id for d in world.receive()] == ["before", "after"]
    [letter] = world.dead.letters()
    assert 0 < len(letter.reason) <= LONGEST_REASON
    assert "x" * 81 not in letter.reason
    assert (world.account.discrepancy, world.account.in_flight) == (0, 2)


def test_a_reason_is_kept_without_credentials_and_never_at_length(world: Any, ended: Any) -> None:
    world.publish(ended())
    [delivery] = world.receive()

    world.bus.dead_letter(delivery.ref, progress=None, reason=f"Fatal: password=hunter22 was refused; {LONG}")

    [letter] = world.dead.letters()
    assert letter.reason.startswith("Fatal: ")
    assert "hunter22" not in letter.reason
    assert len(letter.reason) <= LONGEST_REASON


@pytest.mark.parametrize("client", ["server"], indirect=True)
def test_what_is_too_large_does_not_leave_its_server(world: Any, redis_client: Any) -> None:
    def sent() -> int:
        return int(redis_client.info("stats")["total_net_output_bytes"])

    world.foreign_append(TOO_MUCH)
    before = sent()
    world.receive()
    after_it_came = sent() - before
    [letter] = world.dead.letters()
    world.dead.redrive(letter, SUMMARIZER)
    [(ref, _)] = world.bus.overdue(SUMMARIZER, limit=10)
    before = sent()
    world.bus.open(ref)

    assert max(after_it_came, sent() - before) < LARGEST / 100


def test_what_is_too_large_is_not_published(world: Any, ended: Any) -> None:
    with pytest.raises(BadInput, match="none may have more than 16,777,216"):
        world.publish(ended("s1", "x" * LARGEST))

    assert world.receive() == []


def test_no_more_is_handed_over_at_once_than_one_may_have(world: Any) -> None:
    for number in range(10):
        text = b"x" * (LARGEST // 4)
        world.foreign_append(b'{"data": {"session_id": "s%d", "transcript": "%s"}}' % (number, text))

    offered = [len(world.receive(limit=10)) for _ in range(4)]

    assert offered == [4, 4, 2, 0]
