"""Spool of hook payloads: a folder with one file for each, until it is published."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import orjson

from nous.domain.errors import BadInput
from nous.hosts.hook import LIMIT, MAGIC
from nous.redaction.error_text import redacted

_LONGEST_HEAD = 4096

FAILED = "hook.failed"
"""File whose time says when a hook last failed to write."""


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

    def reason(self, rejected: Path) -> str:
        with suppress(OSError):
            return rejected.with_suffix(".why").read_text().strip()
        return "unknown"

    def failed_at(self) -> float | None:
        """Return when a hook last failed to write, in seconds since the epoch; None for never."""
        with suppress(OSError):
            return (self.folder / FAILED).stat().st_mtime or None  # it was made with a time of 0
        return None

    def saw(self, host: str) -> None:
        """Record that a hook of *host* was heard of. Raises OSError."""
        (self.folder / f"{host}.seen").touch(mode=0o600)

    def seen_at(self, host: str) -> float | None:
        """Return when a hook of *host* was last heard of, in seconds since the epoch."""
        with suppress(OSError):
            return (self.folder / f"{host}.seen").stat().st_mtime
        return None

    def report(self) -> dict[str, Any]:
        return {"waiting": len(self.waiting()), "rejected": len(self.rejected()), "failed_at": self.failed_at()}

    def reject(self, path: Path, reason: str) -> None:
        """Keep a file that cannot be used, for a person to look at. Raises OSError."""
        self.rejects.mkdir(mode=0o700, exist_ok=True)
        (self.rejects / f"{path.stem}.why").write_text(f"{redacted(reason)}\n")
        path.replace(self.rejects / path.name)
