"""Build the loops that take in what hooks have spooled, and keep notes ready for them."""

from nous.app.container import Container
from nous.app.services import producer_of
from nous.domain.scope import Scope
from nous.hosts import hosts
from nous.hosts.notes import Notes, NotesRefresher, session_notes
from nous.hosts.spool import Spool, SpoolDrain
from nous.services.notes_folder import NotesFolder

_SPOOL_INTERVAL = 1.0  # seconds; a look at an empty folder takes some microseconds
_NOTES_INTERVAL = 2.0


def spool_of(container: Container) -> Spool:
    return Spool(container.settings.data_dir / "spool")


def spool_drain(container: Container) -> SpoolDrain:
    """Return the loop that publishes what hooks have spooled; `drain` does so once."""
    return SpoolDrain(
        spool_of(container),
        producer=producer_of(container),
        scopes=container.session_scopes,
        hosts=hosts(),
        interval=_SPOOL_INTERVAL,
    )


def notes_refresher(container: Container) -> NotesRefresher:
    """Return the loop that renders notes after workers have committed."""

    def render(scope: Scope) -> Notes:
        return session_notes(container.memory, scope, container.clock())

    def progress() -> object:
        return [container.delivery_stats.counters(each) for each in container.subscriptions]

    return NotesRefresher(
        NotesFolder(container.settings.data_dir / "context"),
        render=render,
        progress=progress,
        hosts=hosts(),
        interval=_NOTES_INTERVAL,
    )
