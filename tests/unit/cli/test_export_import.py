"""What is exported, put in its place."""

from pathlib import Path

import pytest

from nous.cli.export_import import written
from nous.domain.errors import BadInput


def test_a_place_that_is_taken_while_it_is_written_is_named_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "facts.jsonl"

    with pytest.raises(BadInput, match="could not be written: Is a directory"), written(str(target)):
        target.mkdir()

    assert list(tmp_path.iterdir()) == [target]
