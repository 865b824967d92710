"""A producer that does not give up: what the server does not take is published again until it does."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import uuid5

from nous.app.container import Container, build
from nous.domain.episode import NAMESPACE
from nous.domain.errors import NousError
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.settings.model import Settings

SCOPES = tuple(Scope(project=f"project-{number}") for number in range(20))
"""Where sessions are, in turn: a process that knows nothing yet reads all that is known in a scope."""

_AT_ONCE = 5
_FEWEST_AHEAD = 12
_PAUSE = 0.05


def ended(session: str, number: int, *, scope: Scope | None = None) -> SessionEnded:
    """The end of a session that says one thing to remember; the same number says the same."""
    port = 9000 + number
    event_id = uuid5(NAMESPACE, session)
    return SessionEnded(
        id=event_id,
        time=datetime(2026, 1, 1, tzinfo=UTC),
        source="drill",
        scope=scope or Scope(),
        agent_id="drill",
        session_id=session,
        trace_id=event_id,
        transcript=(
            f"User: Please always run service svc-{number} on port {port}, never on another one.\n\n"
            f"Assistant: Done. Service svc-{number} now runs on port {port}.\n\n"
            "User: Thanks, that is all I needed."
        ),
    )


class Producer:
    """Publishes sessions on a thread of its own, every second batch durably. *settings* say which way it goes.

    `confirmed` are the sessions that the server said it took, `durable` those of them that it said its disk has.
    """

    def __init__(self, settings: Settings, sessions: int) -> None:
        self._settings = settings
        self._sessions = [f"session-{number}" for number in range(sessions)]
        # So many may be published and not handled yet: publishing takes as long as the work does.
        self._ahead = max(_FEWEST_AHEAD, sessions // 20)
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self.confirmed: set[str] = set()
        self.durable: set[str] = set()
        self.between = threading.Lock()
        """Held while something is published: whoever holds it knows what the server has said."""
        self.when_durable: Callable[[], None] = lambda: None
        """Called when the server has said that its disk has what was published."""

    def start(self, handled: Callable[[], int]) -> None:
        """Begin; *handled* tells how many sessions are through, so as not to run too far ahead."""
        self._thread = threading.Thread(target=self._run, args=(handled,), name="producer", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        return self._thread is not None and not self._thread.is_alive()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread:
            self._thread.join()

    def _run(self, handled: Callable[[], int]) -> None:
        container = self._container()
        batches = range(0, len(self._sessions), _AT_ONCE)
        for number, start in enumerate(batches):
            batch = self._sessions[start : start + _AT_ONCE]
            while start - handled() > self._ahead and not self._stopping.is_set():
                time.sleep(_PAUSE)
            while (
                container
                and not self._stopping.is_set()
                and not self._publish(container, batch, start, number % 2 == 0)
            ):
                time.sleep(_PAUSE)

    def _container(self) -> Container | None:
        while not self._stopping.is_set():
            try:
                return build(self._settings)
            except NousError:
                time.sleep(_PAUSE)
        return None

    def _publish(self, container: Container, batch: list[str], first: int, is_durable: bool) -> bool:  # noqa: FBT001
        events = [
            ended(session, number, scope=SCOPES[number % len(SCOPES)]) for number, session in enumerate(batch, first)
        ]
        with self.between:
            try:
                container.bus.publish(*events, durable=is_durable)
            except NousError:
                return False
            self.confirmed.update(batch)
            if is_durable:
                self.durable.update(batch)
                self.when_durable()
            return True
