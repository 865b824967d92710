import re
from pathlib import Path

from nous import samples
from nous.samples import bundled_sessions

SOURCE = Path(samples.__file__).with_name("SOURCE.md")


def test_there_are_enough_of_enough_kinds_and_they_are_small() -> None:
    found = bundled_sessions()

    assert len(found) >= 7
    assert len({path.parent.name for path in found}) >= 5
    assert sum(path.stat().st_size for path in found) <= 250_000


def test_each_is_named_with_its_origin() -> None:
    named = re.findall(r"^\| (\S+/\S+) \|", SOURCE.read_text(), re.MULTILINE)

    assert sorted(named) == [f"{path.parent.name}/{path.name}" for path in bundled_sessions()]
