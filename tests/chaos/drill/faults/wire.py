"""A network in which replies are lost, torn, late, or never come."""

from pathlib import Path
from typing import ClassVar

from builders.proxy import Manner, Proxy
from chaos.drill.fault import Fault
from chaos.drill.stage import Stage
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.redis_server.data_dir import locate


class _Spoilt(Fault):
    """Of the replies to processes and producer every k-th is spoilt, some at each strike."""

    manner: ClassVar[Manner]
    every: ClassVar[int] = 7
    times: ClassVar[int] = 5

    @override
    def way(self, directory: Path) -> str:
        self._proxy = Proxy(locate(directory).socket)
        self._proxy.__enter__()
        return self._proxy.url

    @override
    def strike(self, stage: Stage) -> float:
        self._proxy.spoil(self.manner, every=self.every, times=self.times)
        return 0.0

    @override
    def take_down(self, stage: Stage) -> None:
        self._proxy.__exit__()


class LostReply(_Spoilt):
    name = "replies lost"
    manner = "cut"


class TornReply(_Spoilt):
    name = "replies torn"
    manner = "torn"


class LateReply(_Spoilt):
    name = "replies late"
    manner = "delay"


class NoReply(_Spoilt):
    """A connection over which nothing comes any more is given up after as long as a client waits for a reply."""

    name = "replies never"
    manner = "hole"
    times = 1
