"""Publish what hooks have spooled, and delete each file after that."""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import structlog
from typing_extensions import override

from nous.backoff import PeriodicTask
from nous.domain.errors import BadInput, Misconfigured, NotFound, NousError
from nous.hosts.base import EventKind, Host, HostEvent
from nous.hosts.spool import Spool, SpooledHook
from nous.redaction.error_text import redacted, said
from nous.services.publisher import Producer
from nous.services.session_intake import SessionMetadata
from nous.services.workspace import SessionScopes

_PATIENCE = 600.0  # seconds until a transcript that a payload names has to be there

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class SpoolDrain(PeriodicTask):
    """Publishes what is in the spool. Any number of processes may: publishing is idempotent."""

    name: ClassVar[str] = "spool"

    spool: Spool
    _: KW_ONLY
    producer: Producer
    scopes: SessionScopes
    hosts: Mapping[str, Host]
    clock: Callable[[], float] = time.time
    _put_off: set[str] = field(init=False, default_factory=set[str])

    @override
    def run_once(self) -> float:
        self.drain()
        return self.interval

    def drain(self) -> int:
        """Publish what waits, and return how many files are done.

        A file goes only after the server has taken its event. One that cannot be used is rejected. One whose transcript
        is not there yet waits for some minutes, and one whose project has an unusable override until that is mended.
        Raises `Retryable` if the server does not answer.
        """
        return sum(self._drained(path) for path in self.spool.waiting())

    def _drained(self, path: Path) -> bool:
        try:
            self._publish(SpooledHook.read(path.read_bytes()))
        except FileNotFoundError:  # another process was faster, or it is a link that leads nowhere
            path.unlink(missing_ok=True)
            return False
        except (BadInput, NotFound) as error:
            if isinstance(error, NotFound) and self._is_young(path):
                return False
            self._reject(path, str(error))
        except Misconfigured as error:
            if path.name not in self._put_off:
                self._put_off.add(path.name)
                log.warning("spool.put_off", file=path.name, reason=redacted(str(error)), hint="logged once")
            return False
        except NousError:
            raise
        except Exception as error:  # noqa: BLE001 (a defect of nous stops no other file)
            self._reject(path, f"a defect in nous: {said(error)}")
        path.unlink(missing_ok=True)
        return True

    def _reject(self, path: Path, reason: str) -> None:
        log.warning("spool.rejected", file=path.name, reason=redacted(reason))
        with suppress(FileNotFoundError):
            self.spool.reject(path, reason)

    def _is_young(self, path: Path) -> bool:
        with suppress(OSError):
            return abs(self.clock() - path.stat().st_mtime) < _PATIENCE
        return False

    def _publish(self, spooled: SpooledHook) -> None:
        host = self.hosts.get(spooled.host)
        kind = host.hooks.get(spooled.event) if host else None
        if host is None or kind is None:
            raise BadInput(f"no host is known that runs {spooled.event!r} of {spooled.host!r}")
        self.spool.saw(host.name)
        event = host.event_of(kind, spooled.payload)
        if event is None:
            return
        about = SessionMetadata(cwd=event.cwd, reason=event.reason, compacting=kind is EventKind.COMPACTING)
        match kind:
            case EventKind.START:
                self.scopes.of_directory(event.cwd)  # from now on, notes are kept ready for its workspace
            case EventKind.TURN if event.transcript:
                at = datetime.fromtimestamp(spooled.received_at / 1e9, tz=UTC)
                self.producer.touch(_transcript(event), about, at=at)
            case EventKind.COMPACTING | EventKind.END:
                deque(self.producer.publish(_transcript(event), about, warn=log.warning), maxlen=0)
            case _:
                pass


def _transcript(event: HostEvent) -> Path:
    if event.transcript is None:
        raise BadInput("the payload names no transcript")
    if os.path.isfile(event.transcript):  # noqa: PTH113 (Path.is_file raises for a forbidden folder)
        return Path(event.transcript)
    raise NotFound(f"there is no transcript {event.transcript}")
