"""The Lua scripts of the bus. Each file says at its top what it promises and what it is given."""

from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import redis
from redis.commands.core import Script

from nous.bus.redis_errors import translated


class Scripts:
    """Runs the scripts of this package. Each is told the time in its last argument: "" for the server's own."""

    def __init__(self, client: redis.Redis, clock: Callable[[], float] | None = None) -> None:
        self._client = client
        self._clock = clock
        self._loaded: dict[str, Script] = {}

    def __call__(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        now = "" if self._clock is None else repr(self._clock())
        script = self._loaded.get(name) or self._loaded.setdefault(name, self._client.register_script(_source(name)))
        with translated():
            return script(keys=keys, args=[*arguments, now])


def _source(name: str) -> str:
    folder = resources.files(__name__)
    return (folder / "prelude.lua").read_text("utf-8") + (folder / f"{name}.lua").read_text("utf-8")
