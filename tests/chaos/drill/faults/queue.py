"""A queue that is lost, or holds what is not ours."""

import pickle
import zlib
from typing import Any

import orjson
from chaos.drill.fault import Fault
from chaos.drill.stage import Stage
from chaos.drill.system import WORKERS
from rq.serializers import JSONSerializer
from typing_extensions import override  # typing has it from Python 3.12 on


class LostQueues(Fault):
    """Every key of RQ is deleted."""

    name = "queue lost"

    @override
    def strike(self, stage: Stage) -> float:
        client: Any = stage.container.client
        if keys := list(client.scan_iter("rq:*", count=10_000)):
            client.delete(*keys)
        return 0.0


class ForeignJobs(Fault):
    """Jobs that are not ours, and that would write a file if they were run, entries that are no events, and a reader
    who takes events and does nothing with them.
    """

    name = "foreign jobs"

    def __init__(self) -> None:
        self._garbage: set[str] = set()

    @override
    def strike(self, stage: Stage) -> float:
        client: Any = stage.container.client
        canary = f"touch {stage.directory / 'canary'}"
        for worker in WORKERS:
            for number, data in enumerate(_calls(canary)):
                name = f"foreign-{worker}-{number}"
                client.hset(
                    f"rq:job:{name}", mapping={"data": data, "origin": worker, "status": "queued", **_callbacks()}
                )
                client.lpush(f"rq:queue:{worker}", name)
            client.lpush(f"rq:queue:{worker}", "there is no such job")
        session = f"garbage-{len(self._garbage)}"
        self._garbage.add(session)
        stream = "nous:events:session_ended"
        client.xadd(
            stream, {"event": orjson.dumps({"data": {"session_id": session, "dataref": "file:///there/is/none"}})}
        )
        client.xreadgroup(WORKERS[0], "somebody else", {stream: ">"}, count=3)
        return 0.0

    @override
    def expected_dead(self) -> set[str]:
        return self._garbage

    @override
    def clear(self, stage: Stage) -> None:
        assert not (stage.directory / "canary").exists(), "a foreign job was run"


def _calls(command: str) -> list[bytes]:
    """A shell command as RQ would save a job that runs it, and what cannot be read at all."""
    call = ("os.system", None, [command], {})
    return [pickle.dumps(call), JSONSerializer.dumps(call), zlib.compress(JSONSerializer.dumps(call)), b"\x00", b""]


def _callbacks() -> dict[str, str]:
    return {"success_callback_name": "os.abort", "failure_callback_name": "os.abort"}
