"""A server that has lost count of what it holds cannot say that every touch was noted: then nothing is closed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.answers import SESSION
from builders.idle import IDLE, IdleWorld

from nous.bus.accounting import Backlog
from nous.bus.base import Subscription


def test_nothing_is_closed_where_nobody_can_tell_whether_there_are_touches_that_were_not_noted(tmp_path: Path) -> None:
    world, path = IdleWorld(), tmp_path / "s1.txt"
    path.write_text(SESSION)

    class Unsure:
        def backlogs(self, subscription: Subscription) -> list[Backlog]:
            return [replace(each, waiting=None) for each in world.bus.backlogs(subscription)]

    delivery_stats: Any = Unsure()
    world.touch(path=path)
    world.work()
    world.now += IDLE + 1

    assert list(world.finisher(delivery_stats=delivery_stats).close()) == []
    assert len(world.close()) == 1
