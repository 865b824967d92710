"""One file is all that another worker takes."""

from pathlib import Path
from typing import Any

import pytest
from builders.buses import WholeBus

import workers
from nous.app.container import discover
from nous.bus.base import Priority, Subscription

ONE_FILE = '''
"""session_ended → session_counted."""

from dataclasses import dataclass
from typing import ClassVar

from nous.domain.effects import Effects
from nous.domain.events import Event, SessionEnded
from nous.pipeline.worker import Worker


@dataclass(frozen=True, kw_only=True)
class SessionCounted(Event):
    type: ClassVar[str] = "session_counted"

    words: int


def build(kit):
    def handle(event):
        words = len(event.transcript.split())
        return Effects(events=(SessionCounted.after(event, by="counter", at=kit.clock(), words=words),))

    return handle


WORKER = Worker("counter", SessionEnded, build, emits=(SessionCounted,))
'''


def test_a_worker_with_an_event_of_its_own_is_found_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime: Any, ended: Any
) -> None:
    (tmp_path / "counter.py").write_text(ONE_FILE)
    monkeypatch.setattr(workers, "__path__", [*workers.__path__, str(tmp_path)])

    counter = discover()["counter"]
    bus: WholeBus = runtime.bus
    bus.publish(ended(text="User: one two three"))
    [delivery] = bus.receive(Subscription("counter", counter.consumes), priority=Priority.LIVE, limit=1, lease=1)
    bus.commit(delivery, counter.handler_factory(runtime.context)(delivery.event))

    [counted] = bus.receive(Subscription("reader", counter.emits[0]), priority=Priority.LIVE, limit=1, lease=1)
    assert (counted.event.type, vars(counted.event)["words"]) == ("session_counted", 4)
    assert counted.event.caused_by == delivery.event.id
