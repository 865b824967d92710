"""A whole product with sessions that say the same things, and texts that were planted wherever a session leaves traces.

town = Town(directory, server)                 # server: ModelServer(about_its_session)
town.publish(SECRET, "plantedwords")
town.settle()                                  # workers run until everything is at rest
assert keys_with(town.client, "planted")
town.stop()
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from builders.answers import answer, stated
from builders.crew import is_at_rest, working
from builders.model_server import ModelServer, Request
from builders.waiting import wait_until
from nous.app.container import build
from nous.app.services import producer_of
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.episode import Decision
from nous.domain.scope import Scope
from nous.redis_server import embedded
from nous.services.session_intake import SessionMetadata
from nous.settings.model import LlmSettings, PublishSettings, Settings, WorkerSettings

HERE = Scope(project="town")
ELSEWHERE = Scope(project="elsewhere")
SECRET, OTHER = "secret-session", "other-session"
INLINE = 2000

SHARED = "Service billing always runs on port 9017."
SAID_BY_OTHER = "Service billing is always running on port 9017."


def about_its_session(request: Request) -> str:
    """An answer in words that tell where they come from."""
    is_secret, own = "plantedwords" in request.user, _own(request.user)
    facts = [SHARED if is_secret else SAID_BY_OTHER, own]
    return answer(
        title="About plantedtitle" if is_secret else "About the canteen",
        summary=f"{own} Billing was set to port 9017.",
        key_points=[own],
        candidate_facts=[
            stated(text, category="technical", subject="plantedsubject" if is_secret else "billing") for text in facts
        ],
    )


def talkative(request: Request) -> str:
    """Say all that was shown as facts."""
    lines = [line for line in request.user.splitlines() if line.strip()][:10]
    facts = [stated(line[:900]) for line in lines]
    return answer(title="A session", summary=" ".join(lines)[:4000], key_points=lines[:9], candidate_facts=facts)


@contextmanager
def running(directory: Path, answers: Callable[[Request], str]) -> Generator["Town"]:
    """A town whose model gives *answers*; its server is stopped in the end."""
    with ModelServer(answers) as server:
        town = Town(directory, server)
        try:
            yield town
        finally:
            town.stop()


class Town:
    """One process with every worker, on an embedded server of its own."""

    def __init__(self, directory: Path, server: ModelServer) -> None:
        self._directory = directory
        self.settings = Settings(
            data_dir=directory,
            embedder="hashed",
            background_model="openai:test-model",
            llm=LlmSettings(base_url=server.openai_url, api_key="sk-test", deadline=5.0, patience=20.0),  # pyright: ignore[reportArgumentType]
            worker=WorkerSettings(sweep_interval=0.2, backoff_base=0.05, max_attempts=1),
            publish=PublishSettings(inline_limit=INLINE),
        )
        self.container = build(self.settings)
        self.producer = producer_of(self.container)

    @property
    def client(self) -> Any:
        return self.container.client

    def facts(self) -> dict[str, UUID]:
        """The facts that are current here, by their text."""
        context = self.container.context
        with context.fact_cache.current(context.facts, HERE, context.embedder) as knowledge:
            return {known.fact.text: known.fact.id for known in knowledge.current()}

    def balances(self) -> set[int]:
        """What the accounts of the workers come to."""
        return {self.container.delivery_stats.counters(each).discrepancy for each in self.container.subscriptions}

    def settle(self) -> None:
        """Let all workers run until nothing is left to do."""
        with working(self.container):
            wait_until(lambda: is_at_rest(self.container), "everything to be at rest", seconds=60, pause=0.1)

    def stop(self) -> None:
        for client in (self.container.client, self.container.rq_client):
            client.connection_pool.disconnect()
        embedded.stop(self._directory)

    def publish(self, session: str, text: str, *, scope: Scope = HERE, again: bool = False, **about: Any) -> None:
        list(self.producer.publish(told(text), SessionMetadata(scope=scope, session_id=session, **about), again=again))

    def decide(self, session: str, text: str, *, scope: Scope = HERE) -> None:
        self.producer.record(Decision(description=text), session_id=session, scope=scope, agent_id="default")

    def lose(self, session: str, path: Path, *, scope: Scope = HERE) -> None:
        """Publish a session whose file is gone by the time that somebody reads it."""
        path.write_text(told("whatever"))
        list(self.producer.publish(path, SessionMetadata(scope=scope, session_id=session)))
        path.unlink()

    def scribble(self, session: str, text: str, *, scope: Scope = HERE) -> None:
        """Write into the stream what no release can read, as a foreign producer may."""
        raw = f'{{"data": {{"session_id": "{session}", "scope": {{"project": "{scope.project}"}}, "bytes": "{text}"}}}}'
        self.client.xadd(BusKeys().stream("session_ended", Priority.LIVE), {"event": raw})


def _own(text: str) -> str:
    return "The plantedanswer codeword opens the vault." if "plantedwords" in text else "The canteen opens at noon."


def told(text: str) -> str:
    return (
        f"User: Please always run service billing on port 9017. {_own(text)} {text}\n\n"
        "Assistant: Done: service billing now listens on port 9017.\n\n"
        "User: Thanks, that is all I needed."
    )
