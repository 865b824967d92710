"""Every form in which a release wrote an event is read for ever. Files in tests/wire are added, never changed."""

from pathlib import Path

import orjson
import pytest

from nous.domain.event_codec import decode, encode
from nous.domain.events import kinds

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
