"""Spool of hook payloads: read each file, publish what follows from it, delete it after that."""

import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import orjson
import structlog
from typing_extensions import override

from nous.domain.errors import BadInput, Misconfigured, NotFound, NousError
from nous.hosts.base import EventKind, Host, HostEvent
from nous.hosts.hook import LIMIT, MAGIC
from nous.redaction.error_text import redacted
from nous.redaction.tracebacks import said
from nous.runtime.maintenance import PeriodicTask
from nous.services.publisher import Producer
from nous.services.session_intake import SessionMetadata
from nous.services.workspace import SessionScopes

_PATIENCE = 600.0  # seconds until a transcript that a payload names has to be there
_LONGEST_HEAD = 4096
FAILED = "hook.failed"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledHook:
    """Payload that a hook has spooled, and when, in nanoseconds since the epoch."""

    host: str
    event: str
    received_at: int
    payload: Mapping[str, Any]

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Read a file of the spool. Raises `BadInput` for one that is torn, cut, or no JSON object."""
        head, ends, payload = content.partition(b"\n\n")
        magic, *lines = head[:_LONGEST_HEAD].decode(errors="replace").split("\n")
        fields = dict(line.split(" ", 1) for line in lines if " " in line)
        if magic != MAGIC or not ends or fields.keys() != {"host", "event", "received_at", "bytes"}:
            raise BadInput("it was not written by a hook of this release")
        if fields["bytes"] != str(len(payload)):
            raise BadInput("it is torn: the hook was ended while it wrote")
        if len(payload) > LIMIT:
            raise BadInput(f"the payload is larger than {LIMIT:,} bytes")
        try:
            value = orjson.loads(payload)
        except orjson.JSONDecodeError as error:
            raise BadInput(f"the payload is no JSON: {error}") from error
        if not isinstance(value, dict) or not fields["received_at"].isdecimal():
            raise BadInput("the payload is no JSON object")
        return cls(
            host=fields["host"],
            event=fields["event"],
            received_at=int(fields["received_at"]),
            payload=cast("Mapping[str, Any]", value),
        )


@dataclass(frozen=True, slots=True)
class Spool:
    """The folder into which hooks write. Anything may be missing: nothing is installed yet, say."""

    folder: Path

    @property
    def rejects(self) -> Path:
        """The folder of files that could not be used, each beside a file with the reason."""
        return self.folder / "rejected"

    def waiting(self) -> list[Path]:
        """Return the complete files, oldest first."""
        return sorted(self.folder.glob("*.hook"))

    def rejected(self) -> list[Path]:
        return sorted(self.rejects.glob("*.hook"))

    def failed_at(self) -> float | None:
        """Return when a hook last failed to write, in seconds since the epoch; None for never."""
        with suppress(OSError):
            return (self.folder / FAILED).stat().st_mtime or None  # it was made with a time of 0
        return None

    def reject(self, path: Path, reason: str) -> None:
        """Keep a file that cannot be used, for a person to look at. Raises OSError."""
        self.rejects.mkdir(mode=0o700, exist_ok=True)
        (self.rejects / f"{path.stem}.why").write_text(f"{redacted(reason)}\n")
        path.replace(self.rejects / path.name)


@dataclass(eq=False)
class SpoolDrain(PeriodicTask):
    """Publishes what is in the spool; any number of processes may, since publishing is idempotent."""

    name: ClassVar[str] = "spool"

    spool: Spool
    _: KW_ONLY
    producer: Producer
    scopes: SessionScopes
    hosts: Mapping[str, Host]
    clock: Callable[[], float] = time.time

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
        except FileNotFoundError:  # another process was faster
            return False
        except (BadInput, NotFound) as error:
            if isinstance(error, NotFound) and self._is_young(path):
                return False
            self._reject(path, str(error))
        except Misconfigured as error:
            log.warning("spool.put_off", file=path.name, reason=redacted(str(error)))
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
