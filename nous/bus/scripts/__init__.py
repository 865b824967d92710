"""The Lua scripts of the bus. Each file says at its top what it promises and what it is given."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
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
        # Read now, not when it is needed: by then another release may have been installed beneath this process.
        self._sources = _sources(package)
        self._loaded: dict[str, Script] = {}

    def __call__(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        now = "" if self._clock is None else repr(self._clock())
        script = self._loaded.get(name) or self._loaded.setdefault(name, self._register(name))
        with translated():
            return script(keys=keys, args=[*arguments, now])

    def _register(self, name: str) -> Script:
        parts = _sources(__name__)["clock.lua"], self._sources["prelude.lua"], self._sources[f"{name}.lua"]
        return self._client.register_script("".join(parts))


@cache
def _sources(package: str) -> Mapping[str, str]:
    files = resources.files(package).iterdir()
    return {each.name: each.read_text("utf-8") for each in files if each.name.endswith(".lua")}
