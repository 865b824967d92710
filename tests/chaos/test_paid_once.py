"""Processes are killed with `kill -9` around the moment when an answer is kept. Nothing is asked, or paid, twice."""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from builders.answers import answer
from builders.model_server import ModelServer, Request
from builders.model_speech import READ, WRITTEN

from nous.app.container import Container, build
from nous.bus.accounting import GroupCounters
from nous.bus.base import Subscription
from nous.bus.delivery_state import DeliveryStatus
from nous.domain.episode import Episode, Tier, Tokens
from nous.domain.events import SessionEnded, episode_id
from nous.domain.scope import Scope
from nous.jobs.base import MemoryJobs, QueueKind, Runner
from nous.runtime.sweeper import Sweeper
from nous.runtime.worker_process import Dispatcher
from nous.settings.model import ExcerptSettings, LlmSettings, Settings, WorkerSettings

pytestmark = pytest.mark.chaos

WORKER = "episode-summarizer"
MODEL = "vllm:any"
LEASE = 0.2
FEW = 4
WINDOWS = 3
KILLED = "killed by SIGKILL"


@pytest.fixture
def kills() -> int:
    """How many sessions lose their process between the pin and the commit."""
    return int(os.environ.get("PAID_ONCE_KILLS", "100"))


@dataclass(frozen=True)
class Nurseries:
    """Make attempts in processes of their own: see `paid_once.py`. They go through their sets in different orders."""

    programs: Sequence["subprocess.Popen[str]"]

    def runner(self, fate: str, settings: Settings) -> Runner:
        """Makes attempts that meet *fate*, the next one at a session by another program than the last."""

        def run(worker: str, priority: str, entry: str, attempt: int) -> str:
            program = self.programs[attempt % len(self.programs)]
            print(fate, worker, priority, entry, attempt, settings.model_dump_json(), file=program.stdin, flush=True)
            return said_by(program)

        return run


@pytest.fixture(scope="module")
def nurseries() -> Iterator[Nurseries]:
    with ExitStack() as stack:
        programs = [stack.enter_context(started(hash_seed)) for hash_seed in "12"]
        assert [said_by(program) for program in programs] == ["ready", "ready"]
        yield Nurseries(programs)


def started(hash_seed: str) -> "subprocess.Popen[str]":
    program = Path(__file__).with_name("paid_once.py")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, program.parents[1:3])),
        "PYTHONHASHSEED": hash_seed,
        "OPENBLAS_NUM_THREADS": "1",  # it keeps a thread for every further core, and a fork would copy none of them
    }
    pipe, command = subprocess.PIPE, [sys.executable, str(program)]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, text=True)


def said_by(program: "subprocess.Popen[str]") -> str:
    assert program.stdout
    return program.stdout.readline().strip()


@dataclass
class Stage:
    """A real server, a model that counts what it is asked, and sessions whose attempts are made in other processes."""

    container: Container
    model: ModelServer
    nurseries: Nurseries
    ended: Callable[..., SessionEnded]
    wait_until: Callable[..., None]
    jobs: MemoryJobs = field(default_factory=MemoryJobs)
    sessions: int = 0

    def publish(self, sessions: int, *, exchanges: int = 1) -> None:
        """Publish sessions, no two of the same words, and offer a first attempt at each."""
        self.sessions = sessions
        said = (conversation(number, exchanges) for number in range(sessions))
        self.container.bus.publish(*(self.ended(f"session-{number}", text) for number, text in enumerate(said)))
        Dispatcher(
            self.subscription, bus=self.container.bus, jobs=self.jobs, ahead=2 * sessions, lease=LEASE
        ).dispatch()
        assert self.waiting == sessions

    def attempt(self, fate: str = "none") -> Counter[str]:
        """Make every attempt that is offered, each in a process that meets *fate*; returns what came of them."""
        runner = self.nurseries.runner(fate, self.container.settings)
        return Counter(outcome for line in QueueKind for outcome in self.jobs.run(runner, WORKER, line))

    def sweep(self) -> None:
        """Offer another attempt at each session, as its lease has ended with its process."""
        sweeper = Sweeper(
            self.subscription,
            bus=self.container.bus,
            jobs=self.jobs,
            retry_policy=self.container.retry_policy,
            ahead=64,
        )

        def has_swept() -> bool:
            sweeper.sweep()
            return self.waiting == self.sessions

        self.wait_until(has_swept, "another attempt at every session")

    @property
    def subscription(self) -> Subscription:
        return self.container.subscription(WORKER)

    @property
    def waiting(self) -> int:
        return sum(self.jobs.backlog(WORKER, line) for line in QueueKind)

    @property
    def pending(self) -> int:
        """The sessions that an attempt has begun and none has ended."""
        opened = [self.container.bus.open(ref) for ref in {order.ref for order in self.jobs.submitted}]
        return sum(delivery is not None and delivery.state.state is DeliveryStatus.RUNNING for delivery in opened)

    @property
    def pinned(self) -> Counter[str]:
        """How many answers Redis keeps, by the id of the episode that they are about."""
        keys: Any = self.container.client.scan_iter(f"{self.container.settings.prefix}:answer:*", count=1000)
        return Counter(key.decode().split(":")[-2] for key in keys)

    @property
    def asked(self) -> Counter[tuple[str, bool]]:
        """How often the model was asked what: a prompt, for the first time or again after a bad answer."""
        return Counter((request.prompt, is_asked_again(request)) for request in self.model.requests)

    @property
    def episodes(self) -> Sequence[Episode]:
        return self.container.context.episodes.recent(Scope(), limit=10 * self.sessions)

    @property
    def account(self) -> GroupCounters:
        return self.container.delivery_stats.counters(self.subscription)

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.container.llm_stores.counters.counts()[MODEL])


@pytest.fixture
def stage(directory: Path, nurseries: Nurseries, ended: Any, wait_until: Any) -> Iterator[Callable[..., Stage]]:
    with ExitStack() as stack:

        def set_up(say: Callable[[Request], str] = titled, **settings: Any) -> Stage:
            model = stack.enter_context(ModelServer(say))
            llm, worker = LlmSettings(base_url=model.openai_url), WorkerSettings(lease=LEASE)
            known = Settings(data_dir=directory, embedder="hashed", background_model=MODEL, llm=llm, worker=worker)
            return Stage(build(known.model_copy(update=settings)), model, nurseries, ended, wait_until)

        yield set_up


def conversation(number: int, exchanges: int) -> str:
    told = (
        f"User: Please always run service svc-{number} on port {9000 + part}, never on another one.\n\n"
        f"Assistant: Done. Service svc-{number} now listens on port {9000 + part}, as you asked.\n\n"
        for part in range(exchanges)
    )
    return f"{''.join(told)}User: Thanks, that is all I needed."


def titled(request: Request) -> str:
    """A good answer, whose title tells the session that was asked about."""
    found = re.search(r"svc-(\d+)", request.user)
    assert found
    return answer(title=title(found[1]))


def reluctant(request: Request) -> str:
    return titled(request) if is_asked_again(request) else "I would rather not say."


def title(number: str) -> str:
    return f"Service svc-{number} has its port"


def is_asked_again(request: Request) -> bool:
    return any(message["role"] == "assistant" for message in request.body["messages"])


def assert_all_is_well(stage: Stage, sessions: int, *, answers: int = 1) -> None:
    """Every session has one episode, by the model and from what it said of this session, in *answers* answers."""
    episodes = stage.episodes
    titles = sorted((f"session-{number}", title(str(number))) for number in range(sessions))
    assert sorted((episode.session_id, episode.summary.title) for episode in episodes) == titles
    assert {episode.tier for episode in episodes} == {Tier.LLM}
    assert {episode.tokens for episode in episodes} == {Tokens(answers * READ, answers * WRITTEN)}
    account = stage.account
    assert (account.received, account.done, account.in_flight, account.discrepancy) == (sessions, sessions, 0, 0)


def test_a_kill_between_pin_and_commit_makes_no_request_twice(stage: Callable[..., Stage], kills: int) -> None:
    play = stage()
    play.publish(kills)

    assert play.attempt("at-commit") == {KILLED: kills}
    assert play.pinned == {str(episode_id(Scope(), f"session-{number}")): 1 for number in range(kills)}
    assert (play.pending, play.account.in_flight, len(play.episodes)) == (kills, kills, 0)

    play.sweep()
    assert play.attempt() == {"done": kills}
    assert (len(play.asked), play.asked.total()) == (kills, kills)
    assert (play.counts["calls"], play.counts["tokens_in"], play.counts["remembered"]) == (kills, READ * kills, kills)
    assert_all_is_well(play, kills)


def test_a_session_of_several_windows_goes_on_where_it_was_killed(stage: Callable[..., Stage]) -> None:
    play = stage(excerpt=ExcerptSettings(budget=600))
    play.publish(FEW, exchanges=25)

    assert play.attempt("after-pin") == {KILLED: FEW}
    for answers in range(1, WINDOWS):
        assert (play.asked.total(), set(play.pinned.values())) == (FEW * answers, {answers})
        play.sweep()
        assert play.attempt("after-pin") == {KILLED: FEW}

    play.sweep()
    assert play.attempt() == {"done": FEW}
    assert {episode.windows for episode in play.episodes} == {WINDOWS}
    assert set(play.asked.values()) == {1}
    assert play.asked.total() == FEW * WINDOWS
    assert_all_is_well(play, FEW, answers=WINDOWS)


def test_an_answer_that_cannot_be_used_is_not_paid_again_after_a_kill(stage: Callable[..., Stage]) -> None:
    play = stage(reluctant)
    play.publish(FEW)

    assert play.attempt("after-pin") == {KILLED: FEW}
    assert {again for _, again in play.asked} == {False}

    play.sweep()
    assert play.attempt("at-commit") == {KILLED: FEW}
    play.sweep()
    assert play.attempt() == {"done": FEW}
    assert set(play.asked.values()) == {1}
    assert Counter(again for _, again in play.asked) == {False: FEW, True: FEW}
    assert_all_is_well(play, FEW, answers=2)


def test_a_kill_between_answer_and_pin_costs_one_request_more_and_no_others(stage: Callable[..., Stage]) -> None:
    play = stage()
    play.publish(FEW)

    assert play.attempt("before-pin") == {KILLED: FEW}
    assert (play.asked.total(), play.pinned.total(), play.pending) == (FEW, 0, FEW)

    play.sweep()
    assert play.attempt("at-commit") == {KILLED: FEW}
    play.sweep()
    assert play.attempt() == {"done": FEW}
    assert set(play.asked.values()) == {2}
    assert len(play.asked) == FEW
    assert (play.counts["calls"], play.counts["remembered"]) == (2 * FEW, FEW)
    assert_all_is_well(play, FEW)
