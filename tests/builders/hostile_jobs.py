"""Jobs as somebody who can write RQ's keys may write them: what would run `canary.sing` if anybody let it."""

import json
import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis

WORKER = "episode-summarizer"
OURS = "nous.job.perform"
WORDS = [WORKER, "live", "1-1", 1]
SONG = 'import os, pathlib\n\n\ndef sing(*_a, **_k):\n    pathlib.Path(os.environ["CANARY"]).touch()\n'
"""The module `canary`: whatever of it is called leaves a file behind."""

Fields = dict[str, Any]


class Nasty:
    """Sings when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("import canary; canary.sing()",)


def call(function: Any, *, args: Any = (), kwargs: Any = None, bound_to: Any = None) -> bytes:
    return zlib.compress(json.dumps([function, bound_to, args, kwargs or {}]).encode())


def innocent() -> Fields:
    """One of ours, about an entry that is over."""
    return {"data": call(OURS, args=WORDS), "status": "queued", "origin": WORKER, "created_at": "2026-01-01T00:00:00Z"}


def hostile(url: str) -> dict[str, Fields]:
    """By what is wrong with each; webhooks lead to *url*."""
    return {
        **{name: {**innocent(), "data": data} for name, data in _payloads().items()},
        **{name: {**innocent(), **fields} for name, fields in _fields(url).items()},
        "no-data": {name: value for name, value in innocent().items() if name != "data"},
    }


def _payloads() -> dict[str, bytes]:
    args = {
        "five": [*WORDS, 5],
        "three": WORDS[:3],
        "named": {"worker": WORKER},
        "stranger": ["nobody", "live", "1-1", 1],
        "traversal": ["../../etc", "live", "1-1", 1],
        "other-lane": [WORKER, "../live", "1-1", 1],
        "other-entry": [WORKER, "live", "../1", 1],
        "all-entries": [WORKER, "live", "-", 1],
        "list-worker": [[WORKER], "live", "1-1", 1],
        "text-attempt": [WORKER, "live", "1-1", "1"],
        "true-attempt": [WORKER, "live", "1-1", True],
        "huge-attempt": [WORKER, "live", "1-1", 10**400],
        "less-attempt": [WORKER, "live", "1-1", -(10**9)],
        "null-words": [None, None, None, None],
    }
    nasty = pickle.dumps(Nasty())
    functions = ("canary.sing", "os.system", "builtins.exec", "nous.job._world", "nous.job.log.configure", None, 5, [])
    return {
        **{name: call(OURS, args=each) for name, each in args.items()},
        **{f"calls-{number}": call(each, args=["canary"]) for number, each in enumerate(functions)},
        "more-words": call(OURS, args=WORDS, kwargs={"more": "words"}),
        "bound": call(OURS, args=WORDS, bound_to="canary"),
        "bound-sing": call("sing", bound_to="canary"),
        "pickle": nasty,
        "packed-pickle": zlib.compress(nasty),
        "pickled-call": pickle.dumps((Nasty(), None, (), {})),
        "empty": b"",
        "no-json": b"{",
        "null": b"null",
        "deep": b"[" * 60_000,
        "bomb": zlib.compress(b"[" * 50_000_000),
        "huge": b"[" * 50_000_000,
    }


def _fields(url: str) -> dict[str, Fields]:
    called = {f"{when}_callback_name": "canary.sing" for when in ("success", "failure", "stopped")}
    hook = [{"url": url, "job_status": status} for status in ("finished", "failed")]
    failing = {"data": call(OURS, args=["nobody", "live", "1-1", 1])}
    odd = {
        "result_ttl": ["abc", "", "1e400", "-99", "0", "9" * 400],
        "failure_ttl": ["abc", "-99", "9" * 400],
        "timeout": ["abc", "0", "-5", "9" * 30],
        "ttl": ["abc", "-1"],
        "status": ["weird", b"\xff"],
        "created_at": ["never", b"\xff"],
        "enqueued_at": ["never"],
        "meta": [b"\xff", pickle.dumps(Nasty()), b"5", b"[" * 60_000],
        "result": [pickle.dumps(Nasty())],
        "exc_info": [zlib.compress(b"x" * 50_000_000), b"\xff"],
        "origin": ["another", b"\xff"],
        "description": [b"\xff", "<script>"],
        "worker_name": [b"\xff"],
        "dependency_ids": ["nope", '["nobody"]', "5"],
        "repeat_intervals": ["nope"],
        "success_callback_timeout": ["abc"],
        "webhooks": ["nope", "5"],
        "serializer": ["pickle"],
    }
    return {
        "callbacks": called,
        "failing-callbacks": {**called, **failing},
        "hook": {"webhooks": json.dumps(hook)},
        "failing-hook": {"webhooks": json.dumps(hook), **failing},
        "repeated": {"repeats_left": "1000000", "repeat_intervals": "[0]"},
        "retried": {"retries_left": "1000000", "retry_intervals": "[0]", **failing},
        "limited": {"rate_limit_key": "x", "rate_limit_concurrency": "0"},
        **{f"{name}-{number}": {name: value} for name, values in odd.items() for number, value in enumerate(values)},
    }


def plant(client: redis.Redis, queue: str, url: str, *, every: int = 1) -> list[str]:
    """Put *every* so manieth of the hostile jobs into *queue*, an innocent one after each. Returns the ids of those."""
    innocents: list[str] = []
    for name, fields in [*_named(queue, url)][::-every]:
        if fields is None:
            client.set(f"rq:job:{name}", "no job")
        elif fields:
            client.hset(f"rq:job:{name}", mapping=dict(fields))  # pyright: ignore[reportArgumentType]
        innocents.append(f"innocent-{queue}-{len(innocents)}")
        client.hset(f"rq:job:{innocents[-1]}", mapping={**innocent(), "origin": queue})
        client.rpush(f"rq:queue:{queue}", name, innocents[-1])
    client.sadd("rq:queues", f"rq:queue:{queue}")
    return innocents


def _named(queue: str, url: str) -> Iterator[tuple[Any, Fields | None]]:
    yield from ((f"{queue}-{name}", fields) for name, fields in hostile(url).items())
    yield f"{queue}-no-hash", None
    yield f"{queue}-gone", {}


def song_in(folder: Path) -> None:
    (folder / "canary.py").write_text(SONG)
