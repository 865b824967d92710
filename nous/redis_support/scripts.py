"""Load the Lua scripts of a Python package, and run them. Each is documented at its top."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import redis
from redis.commands.core import Script

from nous.redis_support.errors import translated


class Scripts:
    """Runs the scripts in `scripts` of *package*.

    Each script gets the time as its last argument, or "" for the server's time. `clock.lua`, which reads that argument,
    and the package's own `prelude.lua` come before each of them.
    """

    def __init__(self, client: redis.Redis, clock: Callable[[], float] | None = None, *, package: str) -> None:
        self._client = client
        self._clock = clock
        self._package = package
        # Read now, not on first use: by then another release may have been installed under the running process.
        self._sources = _sources(package)
        self._loaded: dict[str, Script] = {}

    def __call__(self, name: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        now = "" if self._clock is None else repr(self._clock())
        script = self._loaded.get(name)
        if script is None:
            parts = _clock(), self._sources["prelude.lua"], self._sources[f"{name}.lua"]
            script = self._loaded.setdefault(name, self._client.register_script("".join(parts)))
        with translated():
            return script(keys=keys, args=[*arguments, now])


def register(client: redis.Redis, package: str, name: str) -> Script:
    """Register the script *name* of *package* alone, without clock or prelude."""
    return client.register_script((resources.files(package) / "scripts" / f"{name}.lua").read_text("utf-8"))


@cache
def _clock() -> str:
    return (resources.files("nous.redis_support") / "clock.lua").read_text("utf-8")


@cache
def _sources(package: str) -> Mapping[str, str]:
    files = (resources.files(package) / "scripts").iterdir()
    return {each.name: each.read_text("utf-8") for each in files if each.name.endswith(".lua")}
