"""A network that loses replies, a model that is out, and a queue that is lost or holds what is not ours."""

import pickle
import zlib
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from builders.model_fleet import about_its_service
from builders.model_server import ModelServer, Request
from builders.proxy import Manner, Proxy
from chaos.drill.crew import WORKERS
from chaos.drill.fault import FAULTS, Fault, fault
from chaos.drill.stage import Stage
from rq.serializers import JSONSerializer
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.redis_server.data_dir import locate

_LONGEST_OUTAGE = 10.0
"""Seconds that a model is out, at most."""


class SpoiltReplies(Fault):
    """Of the replies to processes and producer every seventh is spoilt, some at each strike."""

    def __init__(self, name: str, manner: Manner, times: int = 5) -> None:
        super().__init__(name, lambda _: self._proxy.spoil(manner, every=7, times=times))

    def way(self, directory: Path) -> str:
        self._proxy = Proxy(locate(directory).socket)
        self._proxy.__enter__()
        return self._proxy.url

    def take_down(self) -> None:
        self._proxy.__exit__()


class ModelFault(Fault):
    """Something goes wrong around the model that makes the episodes."""

    def answer(self, request: Request) -> str:
        return about_its_service(request)

    @override
    def environment(self, directory: Path) -> Mapping[str, str]:
        self._server = ModelServer(self.answer)
        self._server.__enter__()
        return {
            "NOUS_BACKGROUND_MODEL": "openai:test-model",
            "NOUS_DEDUP__ASK_MODEL": "false",
            "NOUS_LLM__BASE_URL": self._server.openai_url,
            "NOUS_LLM__API_KEY": "sk-test-0123456789abcdef",
            "NOUS_LLM__DEADLINE": "1",
            "NOUS_LLM__PATIENCE": "600",
        }

    def take_down(self) -> None:
        self._server.__exit__(None, None, None)


class TroubledModel(ModelFault):
    """The provider is in trouble for a while, again and again."""

    def __init__(self, name: str, outage: str) -> None:
        """*outage* is a fault of builders/model_faults.py."""
        super().__init__(name, self._trouble, overlaps=False)
        self._outage = outage

    def _trouble(self, stage: Stage) -> float:
        seconds = min(stage.size.outage, _LONGEST_OUTAGE)
        self._server.outage = self._outage
        stage.later(seconds, partial(setattr, self._server, "outage", None))
        return seconds


class PaidAnswers(ModelFault):
    """Processes die right before or after they keep an answer, or before they use it; some answers are of no use.

    What was kept is not asked for again, be it of use or not. What had not been kept is asked for once more.
    """

    events = 18

    def __init__(self) -> None:
        super().__init__("answers paid", lambda _: None, kills_processes=True)

    @override
    def answer(self, request: Request) -> str:
        is_useless = int(request.prompt, 16) % 2 and not _is_repair(request)
        return "I would rather not say." if is_useless else about_its_service(request)

    @override
    def environment(self, directory: Path) -> Mapping[str, str]:
        self._deaths = directory / "deaths"
        self._deaths.mkdir()
        # One job at a time: a process that dies has no other question under way.
        ours = {"CHAOS_DEATHS": str(self._deaths), "NOUS_WORKER__CONCURRENCY": "1", "NOUS_LLM__DEADLINE": "30"}
        return {**super().environment(directory), **ours}

    @override
    def check(self, stage: Stage) -> None:
        wanted = [each for each in self._server.requests if b'"episode"' in orjson.dumps(each.body)]
        asked = Counter((each.prompt, _is_repair(each)) for each in wanted)
        points = Counter(each.name.rpartition("-")[0] for each in self._deaths.iterdir())
        assert len(points) == 3, f"processes died {dict(points)}"
        assert max(asked.values()) == 2
        assert asked.total() == len(asked) + points["before-answer-is-kept"]
        assert {again for _, again in asked} == {False, True}


def _is_repair(request: Request) -> bool:
    return any(message["role"] == "assistant" for message in request.body["messages"])


@fault("queue lost")
def lose_queues(stage: Stage) -> None:
    """Delete every key of RQ."""
    client: Any = stage.container.client
    if keys := list(client.scan_iter("rq:*", count=10_000)):
        client.delete(*keys)


class ForeignJobs(Fault):
    """Jobs that are not ours, and that would write a file if they were run, entries that are no events, and a reader
    who takes events and does nothing with them.
    """

    def __init__(self) -> None:
        super().__init__("foreign jobs", self._submit)

    def _submit(self, stage: Stage) -> None:
        client: Any = stage.container.client
        canary = f"touch {stage.directory / 'canary'}"
        callbacks = {"success_callback_name": "os.abort", "failure_callback_name": "os.abort"}
        for worker in WORKERS:
            for number, data in enumerate(_calls(canary)):
                name = f"foreign-{worker}-{number}"
                client.hset(f"rq:job:{name}", mapping={"data": data, "origin": worker, "status": "queued", **callbacks})
                client.lpush(f"rq:queue:{worker}", name)
            client.lpush(f"rq:queue:{worker}", "there is no such job")
        session = f"garbage-{len(self.expected_dead)}"
        self.expected_dead.add(session)
        event = orjson.dumps({"data": {"session_id": session, "dataref": "file:///there/is/none"}})
        client.xadd("nous:events:session_ended", {"event": event})

    def check(self, stage: Stage) -> None:
        assert not (stage.directory / "canary").exists(), "a foreign job was run"


def _calls(command: str) -> list[bytes]:
    """A shell command as RQ would save a job that runs it, and what cannot be read at all."""
    call = ("os.system", None, [command], {})
    return [pickle.dumps(call), JSONSerializer.dumps(call), zlib.compress(JSONSerializer.dumps(call)), b"\x00", b""]


FAULTS.update(
    {
        "replies lost": partial(SpoiltReplies, "replies lost", "cut"),
        "replies torn": partial(SpoiltReplies, "replies torn", "torn"),
        "replies late": partial(SpoiltReplies, "replies late", "delay"),
        # A connection over which nothing comes any more is given up after as long as a client waits for a reply.
        "replies never": partial(SpoiltReplies, "replies never", "hole", times=1),
        "model out": partial(TroubledModel, "model out", "500"),
        "model hangs": partial(TroubledModel, "model hangs", "hang"),
        "model says 429": partial(TroubledModel, "model says 429", "429 retry-after 1"),
        "answers paid": PaidAnswers,
        "foreign jobs": ForeignJobs,
    }
)
