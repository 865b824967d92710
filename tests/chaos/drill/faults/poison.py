"""Sessions that kill the process that handles them."""

from chaos.drill.fault import Fault
from chaos.drill.producer import SCOPES, ended
from chaos.drill.stage import Stage
from typing_extensions import override  # typing has it from Python 3.12 on


class Poison(Fault):
    """A session that kills whichever process handles it, among others that do nobody any harm."""

    name = "poison"
    kills_processes = True

    def __init__(self) -> None:
        self._poison: set[str] = set()

    @override
    def strike(self, stage: Stage) -> float:
        session = f"poison-{len(self._poison)}"
        stage.container.bus.publish(ended(session, 50_000 + len(self._poison), scope=SCOPES[0]))
        self._poison.add(session)
        return 0.0

    @override
    def expected_dead(self) -> set[str]:
        return self._poison
