"""One file is all that another worker takes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders.buses import WholeBus
from fakeredis import FakeRedis

import workers
from nous.app.container import Container, discover
from nous.bus.base import Priority, Subscription
from nous.domain.errors import Misconfigured
from nous.excerpt import Windows, windows
from nous.settings import Settings
from nous.settings.model import ExcerptSettings
from nous.text.token_estimate import estimate
from nous.transcript.model import Transcript

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


pytestmark = pytest.mark.usefixtures("nowhere")

Told = Callable[..., Transcript]

COUNTER = """
def by_fours(text, /):
    return -(-len(text) // 4)

NOTHING = None
"""


def excerpts(**values: Any) -> Callable[[Transcript], Windows]:
    """What the workers of a process get to see of a transcript, with the excerpt set so."""
    settings = Settings(redis_url="redis://nowhere", embedder="hashed", excerpt=ExcerptSettings(**values))
    return Container(settings=settings, client=FakeRedis()).context.excerpts


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module of the operator's own, which has a counter."""
    (tmp_path / "counting_of_ours.py").write_text(COUNTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "counting_of_ours"


@pytest.fixture
def long(told: Told) -> Transcript:
    return told(
        *((kind, f"{kind} {n} " + "words and words " * 12) for n in range(80) for kind in ("user", "assistant"))
    )


def test_what_is_set_is_what_a_summarizer_gets(long: Transcript) -> None:
    seen = excerpts(budget=900, windows=3, strategy="spec")(long)

    assert seen == windows(long, 900, most=3, strategy="spec")
    assert (len(seen.windows), seen.wanted > 3) == (3, True)


def test_tokens_are_estimated_unless_a_counter_is_named(long: Transcript) -> None:
    assert excerpts(unit="tokens", budget=300)(long) == windows(long, 300, unit="tokens", count=estimate)


def test_a_counter_of_the_operators_own_is_found_by_its_name(long: Transcript, module: str) -> None:
    seen = excerpts(unit="tokens", budget=300, windows=2, counter=f"{module}:by_fours")(long)

    texts = [window.excerpt.text for window in seen.windows]
    assert all(0.8 * 300 < -(-len(text) // 4) <= 300 for text in texts)


@pytest.mark.parametrize(
    "name",
    ["by_fours", "counting_of_ours:missing", "no_module_of_ours:by_fours", "counting_of_ours:NOTHING", "os:getcwd"],
)
def test_a_counter_that_is_no_function_is_refused_at_the_start_with_how_to_write_one(module: str, name: str) -> None:
    """Not at the first session, whose event would be buried for it."""
    assert module

    with pytest.raises(Misconfigured, match=r"excerpt\.counter = .*write estimate or package\.module:function"):
        excerpts(unit="tokens", counter=name)
