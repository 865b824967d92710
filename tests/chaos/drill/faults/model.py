"""A model that is out, hangs, or has had enough."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from builders.model_fleet import about_its_service
from builders.model_server import ModelServer
from chaos.drill.fault import Fault
from chaos.drill.stage import Stage
from typing_extensions import override  # typing has it from Python 3.12 on

_LONGEST = 10.0
"""Seconds that it is out, at most."""


class _Troubled(Fault):
    """The provider of the model that makes the episodes is in trouble for a while, again and again."""

    overlaps = False
    outage: ClassVar[str]
    """As builders/model_faults.py names it."""

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

    @override
    def strike(self, stage: Stage) -> float:
        seconds = min(stage.size.outage, _LONGEST)
        self._server.outage = self.outage
        stage.later(seconds, self._recover)
        return seconds

    def _recover(self) -> None:
        self._server.outage = None

    @override
    def take_down(self, stage: Stage) -> None:
        self._server.__exit__(None, None, None)


class ModelOut(_Troubled):
    name = "model out"
    outage = "500"


class ModelHangs(_Troubled):
    name = "model hangs"
    outage = "hang"


class ModelStorm(_Troubled):
    name = "model says 429"
    outage = "429 retry-after 1"
