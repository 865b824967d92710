"""The whole product on an embedded server of its own, with a model server for its provider.

    fleet = ModelFleet(directory, server)          # server: ModelServer(about_its_service)
    fleet.start()
    fleet.publish("tea")
    wait_until(lambda: fleet.is_at_rest(1), "the episode")
    assert fleet.tiers == ["llm"]
    fleet.stop()

Every session is about a service that is called like the session, so that a request tells which session it is for.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from builders.answers import answer, stated
from builders.model_server import ModelServer, Request
from nous.app.container import Container, build
from nous.app.worker_process import worker_process
from nous.bus.accounting import GroupCounters
from nous.cli.status import model_report
from nous.domain.effects import for_today
from nous.domain.episode import Episode
from nous.domain.fact import Learned
from nous.domain.scope import Scope
from nous.knowledge.normalize import exact_form
from nous.redis_server import embedded
from nous.runtime.worker_process import WorkerProcess
from nous.services.session_intake import SessionMetadata
from nous.settings.model import DedupSettings, LlmSettings, Settings, WorkerSettings

WORKERS = ("episode-summarizer", "episode-reviser", "fact-extractor")
"""In the order in which work passes through them."""

SWEEP = 0.25
KEY = "sk-test-0123456789abcdef"

_SERVICE = re.compile(r"run service (\S+) on port (\d+)")


class Accounts(NamedTuple):
    """What the books of all workers come to."""

    dead: int
    balance: int


class ModelFleet:
    """One process with the workers that a model concerns, from `start` to `stop`; *llm* and *worker* are settings.

    Several may live side by side, each in its *directory*. Nothing runs in one that was not started, so that processes
    can be watched through it. The model makes episodes, and compares no facts.
    """

    def __init__(
        self,
        directory: Path,
        server: ModelServer,
        *,
        provider: str = "openai",
        llm: Mapping[str, Any] | None = None,
        worker: Mapping[str, Any] | None = None,
    ) -> None:
        self._directory = directory
        url = server.url if provider == "anthropic" else server.openai_url
        known: dict[str, Any] = {"base_url": url, "api_key": KEY, "deadline": 5.0, "patience": 20.0}
        pace: dict[str, Any] = {"sweep_interval": SWEEP, "backoff_base": 0.05, "lease": 20.0}
        self.settings = Settings(
            data_dir=directory,
            embedder="hashed",
            background_model=f"{provider}:test-model",
            dedup=DedupSettings(ask_model=False),
            llm=LlmSettings(**{**known, **(llm or {})}),
            worker=WorkerSettings(**{**pace, **(worker or {})}),
        )
        self.container: Container = build(self.settings)
        self._crew: WorkerProcess | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The settings, for `nous` as a process of its own."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
        llm, worker = self.settings.llm, self.settings.worker
        return inherited | {
            "NOUS_DATA_DIR": str(self._directory),
            "NOUS_EMBEDDER": "hashed",
            "NOUS_LOG_FORMAT": "json",
            "NOUS_BACKGROUND_MODEL": str(self.settings.background_model),
            "NOUS_DEDUP__ASK_MODEL": "false",
            "NOUS_LLM__BASE_URL": str(llm.base_url),
            "NOUS_LLM__API_KEY": KEY,
            "NOUS_LLM__DEADLINE": str(llm.deadline),
            "NOUS_LLM__PATIENCE": str(llm.patience),
            "NOUS_WORKER__SWEEP_INTERVAL": str(worker.sweep_interval),
            "NOUS_WORKER__BACKOFF_BASE": str(worker.backoff_base),
            "NOUS_WORKER__LEASE": str(worker.lease),
        }

    def start(self) -> None:
        self._crew = worker_process(self.container, WORKERS, open_quarantine=_never)
        self._crew.start()

    def stop(self) -> None:
        """Let what is in flight finish, and leave neither a thread nor a server behind."""
        if self._crew:
            self._crew.stop()
            self._crew.wait()
        for client in (self.container.client, self.container.rq_client):
            client.connection_pool.disconnect()
        embedded.stop(self._directory)

    def publish(self, *sessions: str) -> None:
        """Hand over a session about each of these services, all at once."""
        events = [
            self.container.session_intake.of_content(_told(session, 9000 + number), SessionMetadata(session_id=session))
            for number, session in enumerate(sessions)
        ]
        self.container.bus.publish(*events)

    def is_at_rest(self, sessions: int) -> bool:
        """Whether so many have an episode, nobody has anything to do, and no episode is to be offered to the model.

        What the answers depend on is looked at first: work passes through the workers in one direction.
        """
        container, summarizer = self.container, self.container.context.summarizer
        assert summarizer is not None
        tried = (summarizer.by, for_today(summarizer.by, container.context.clock()))
        return (
            len(self.episodes) == sessions
            and not any(container.context.episodes.unrefined(but=tried))
            and not any(
                backlog.pending or backlog.waiting
                for name in WORKERS
                for backlog in container.delivery_stats.backlogs(container.subscription(name))
            )
        )

    @property
    def episodes(self) -> list[Episode]:
        return list(self.container.context.episodes.recent(Scope(), limit=10_000))

    @property
    def tiers(self) -> list[str]:
        """Of every session, in order."""
        return sorted(str(episode.tier) for episode in self.episodes)

    def editions(self, session: str) -> list[str]:
        """The tiers that the episode of *session* has had, the first one first."""
        [episode] = [episode for episode in self.episodes if episode.session_id == session]
        return [str(each.tier) for each in reversed(self.container.context.episodes.editions(Scope(), episode.id))]

    @property
    def calls(self) -> dict[str, int]:
        """What came of the calls, as `nous status --json` shows it, without what never happened."""
        shown = model_report(self.container)["calls"].get(self.settings.background_model, {})
        return {name: count for name, count in shown.items() if count}

    def account(self, worker: str) -> GroupCounters:
        return self.container.delivery_stats.counters(self.container.subscription(worker))

    @property
    def accounts(self) -> Accounts:
        accounts = [self.container.delivery_stats.counters(each) for each in self.container.subscriptions]
        return Accounts(sum(account.dead for account in accounts), sum(account.discrepancy for account in accounts))

    @property
    def learned(self) -> Counter[str]:
        """How often each fact was learned, by what it says."""
        rows = self.container.context.facts.read(Scope()).rows
        return Counter(exact_form(row.fact.text) for row in rows if isinstance(row, Learned))


def service_of(request: Request) -> str:
    """The service, and so the session, that *request* is about."""
    return _found(request)[1]


def about_its_service(request: Request) -> str:
    """A good answer to any request about a session of ours."""
    _, service, port = _found(request).group(0, 1, 2)
    return answer(
        title=f"Service {service} moves to port {port}",
        summary=f"The user asked that service {service} runs on port {port}. It was set.",
        candidate_facts=[stated(f"Service {service} always runs on port {port}.", subject=service)],
    )


def _found(request: Request) -> re.Match[str]:
    found = _SERVICE.search(request.user)
    assert found is not None, "a request that is about no session of ours"
    return found


def _told(session: str, port: int) -> str:
    return (
        f"User: Please always run service {session} on port {port}.\n\n"
        f"Assistant: Done: service {session} now listens on port {port}.\n\n"
        "User: Thanks, that is all I needed."
    )


def _never(worker: str) -> None:
    raise AssertionError(f"an event of {worker} is taken for one that kills its process")
