"""The Lua scripts of the bus. Each file says at its top what it promises and what it is given."""

from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import redis
from redis.commands.core import Script

from nous.bus.redis_errors import translated


class Scripts:
    """Runs the scripts of *package*. Each is told the time in its last argument: "" for the server's own.

    `clock.lua`, which reads that argument, and the package's own `prelude.lua` come before each of them.
    """

    def __init__(
        self, client: redis.Redis, clock: Callable[[], float] | None = None, *, package: str = __name__
    ) -> None:
        self._client = client
        self._clock = clock
        self._package = package
        self._loaded: dict[str, Script] = {}

    def __call__(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        now = "" if self._clock is None else repr(self._clock())
        script = self._loaded.get(name) or self._loaded.setdefault(name, self._register(name))
        with translated():
            return script(keys=keys, args=[*arguments, now])

    def _register(self, name: str) -> Script:
        own = resources.files(self._package)
        parts = (resources.files(__name__) / "clock.lua", own / "prelude.lua", own / f"{name}.lua")
        return self._client.register_script("".join(part.read_text("utf-8") for part in parts))
