"""A program for tests: makes attempts, each in a process of its own, which meets the fate that it is told.

Says "ready", reads lines `FATE WORKER LANE ENTRY ATTEMPT SETTINGS` (the last in JSON), and answers each with a line:
what the attempt said, or the signal that ended its process. Every process is a fork of this one, which has imported all
there is, and has no connection and no thread.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import NoReturn

from builders.model_server import ModelServer
from builders.model_world import ModelWorld
from builders.questions import question, remote
from typing_extensions import override  # typing has it from Python 3.12 on

from nous import log
from nous.app.container import Container, build, discover
from nous.app.llm import llm_stack
from nous.bus.base import Delivery, Verdict
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.event_codec import decode, encode
from nous.llm.base import Question, Reply
from nous.llm.state import LlmKeys, ResponseStore
from nous.runtime.attempt import AttemptFailed, Attempts
from nous.settings.model import Settings
from nous.store.keys import StoreKeys
from nous.store.redis.plans import plan_for
from workers.episode_summarizer import WORKER as SUMMARIZER

_LONGEST = 60
"""Seconds that an attempt may take before it counts as stuck."""


class Fate(StrEnum):
    """Where the process of an attempt is killed, or what else befalls it."""

    NONE = "none"
    BEFORE_PIN = "before-pin"
    AFTER_PIN = "after-pin"
    AT_COMMIT = "at-commit"


class FatefulPins(ResponseStore):
    """Real pins. They remember what was looked for, and kill this process before or after the first that they keep."""

    def __init__(self, container: Container, fate: Fate) -> None:
        settings = container.settings
        super().__init__(container.client, LlmKeys(settings.prefix), answer_ttl=settings.retention.answer_ttl)
        self._fate = fate
        self._asked: list[tuple[Question, str]] = []

    @property
    def hold_everything(self) -> bool:
        """Whether every question that came by is answered in Redis, and there was one."""
        return bool(self._asked) and all(super(FatefulPins, self).find(*asked) for asked in self._asked)

    @override
    def find(self, question: Question, model: str) -> Reply | None:
        self._asked.append((question, model))
        return super().find(question, model)

    @override
    def save(self, question: Question, model: str, reply: Reply) -> Reply:
        if self._fate is Fate.BEFORE_PIN:
            die()
        kept = super().save(question, model, reply)
        if self._fate is Fate.AFTER_PIN:
            die()
        return kept


class FatefulBus(RedisBus):
    """The real bus, up to the commit: it kills this process instead."""

    def __init__(self, container: Container, responses: FatefulPins, fate: Fate) -> None:
        prefix = container.settings.prefix
        super().__init__(
            container.client,
            plan_of=partial(plan_for, keys=StoreKeys(prefix)),
            keys=BusKeys(prefix),
            subscriptions=container.subscriptions,
        )
        self._responses = responses
        self._fate = fate

    @override
    def commit(self, delivery: Delivery, effects: Effects) -> Verdict:
        assert self._responses.hold_everything, "an answer is about to be used that is not pinned"
        if self._fate is Fate.AT_COMMIT:
            die()
        return super().commit(delivery, effects)


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("survived SIGKILL")


def main() -> None:
    log.configure("error")
    rehearse()
    gc.freeze()  # or the first collection of every child copies all of this one's memory
    print("ready", flush=True)
    for line in sys.stdin:
        print(fork(line.split(" ", 5)), flush=True)


def rehearse() -> None:
    """Load and compile here, once, what an attempt needs: it takes longer than the attempt."""
    discover()
    container = ModelWorld()
    event = container.publish()
    decode(encode(event), type_hint=event.type)
    SUMMARIZER.handler_factory(container.context)(event)
    with ModelServer() as server:
        remote(server, "vllm").ask(question())


def fork(words: Sequence[str]) -> str:
    """Make the attempt in a fork, and tell what came of it."""
    assert threading.active_count() == 1, "a thread would be lost in the fork, with whatever it has locked"
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(_LONGEST)
        os.write(writing, said(words).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:  # noqa: PTH123 (a pipe has no path)
        text = pipe.read()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"killed by {signal.Signals(-ended).name}" if ended < 0 else " ".join(text.split())


def said(words: Sequence[str]) -> str:
    fate, worker, priority, entry, attempt, settings = words
    try:
        return attempts(Settings.model_validate_json(settings), Fate(fate))(worker, priority, entry, int(attempt))
    except AttemptFailed as failure:
        return f"failed: {failure}"


def attempts(settings: Settings, fate: Fate) -> Attempts:
    """What makes attempts, as `build` has it, but for the pins and the bus."""
    container = build(settings)
    responses = FatefulPins(container, fate)
    books = replace(container.llm_stores, responses=responses)
    llm = llm_stack(settings, books, excerpts=container.context.excerpts, clock=container.context.clock)
    return Attempts(
        container.workers,
        bus=FatefulBus(container, responses, fate),
        context=replace(container.context, summarizer=llm.summarizer, anchored_summarizer=llm.anchored_summarizer),
        retry_policy=container.retry_policy,
        leases=container.leases,
    )


if __name__ == "__main__":
    main()
