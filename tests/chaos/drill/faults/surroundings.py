"""A network that loses replies, a model that is out, and a queue that is lost or holds what is not ours."""

import pickle
import zlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from builders.model_fleet import about_its_service
from builders.model_server import ModelServer
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


class TroubledModel(Fault):
    """The provider of the model that makes the episodes is in trouble for a while, again and again."""

    def __init__(self, name: str, outage: str) -> None:
        """*outage* is a fault of builders/model_faults.py."""
        super().__init__(name, self._trouble, overlaps=False)
        self._outage = outage

    @override
    def environment(self, directory: Path) -> Mapping[str, str]:
        self._server = ModelServer(about_its_service)
        self._server.__enter__()
        return {
            "NOUS_BACKGROUND_MODEL": "openai:test-model",
            "NOUS_LLM__BASE_URL": self._server.openai_url,
            "NOUS_LLM__API_KEY": "sk-test-0123456789abcdef",
            "NOUS_LLM__DEADLINE": "1",
            "NOUS_LLM__PATIENCE": "600",
        }

    def _trouble(self, stage: Stage) -> float:
        seconds = min(stage.size.outage, _LONGEST_OUTAGE)
        self._server.outage = self._outage
        stage.later(seconds, partial(setattr, self._server, "outage", None))
        return seconds

    def take_down(self) -> None:
        self._server.__exit__(None, None, None)


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
        stream = "nous:events:session_ended"
        client.xadd(
            stream, {"event": orjson.dumps({"data": {"session_id": session, "dataref": "file:///there/is/none"}})}
        )
        client.xreadgroup(WORKERS[0], "somebody else", {stream: ">"}, count=3)

    def clear(self, stage: Stage) -> None:
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
        "foreign jobs": ForeignJobs,
    }
)
