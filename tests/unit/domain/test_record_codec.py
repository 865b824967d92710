"""Records as JSON."""

from dataclasses import dataclass, field

import pytest

from nous.domain.errors import BadInput, Misconfigured
from nous.domain.record_codec import decode, encode


@dataclass(frozen=True)
class Note:
    text: str
    marks: tuple[int, ...] = field(default=())


def test_a_record_is_read_as_it_was_written() -> None:
    assert decode(Note, encode(Note("größer 🌍", (1, 2)))) == Note("größer 🌍", (1, 2))


def test_fields_of_another_release_are_ignored_or_have_a_default() -> None:
    assert decode(Note, b'{"text":"a","colour":"red"}') == Note("a")


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(BadInput, match="Note cannot be stored"):
        encode(Note("half a pair: \ud800"))


def test_what_is_no_such_record_is_named_without_its_content() -> None:
    with pytest.raises(Misconfigured, match=r"no Note that this release can read \(marks\.0\)") as caught:
        decode(Note, b'{"text":"secret","marks":["secret"]}')

    assert "secret" not in str(caught.value)
