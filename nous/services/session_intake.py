"""Build session events from a transcript file or chat messages; upload large content."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, cast
from uuid import uuid5

import orjson

from nous.domain.episode import NAMESPACE
from nous.domain.errors import BadInput, NotFound
from nous.domain.events import SessionCompacting, SessionEnded, SessionEvent, SessionTouched
from nous.domain.scope import Scope, checked_name
from nous.services.workspace import SessionScopes
from nous.store.keys import StoreKeys
from nous.store.transcript_source import Uploads, compacting_name, dataref_of, upload
from nous.transcript import Transcript, parse_transcript, read_transcript
from nous.transcript.io.byte_source import ByteSource
from nous.transcript.load import SessionPart, accessing, damage, refusal, session_content, split_sessions
from nous.transcript.model import ReadNotes

Messages = Sequence[Mapping[str, Any]]

Warn = Callable[[str], object]
"""Callback for a problem that does not prevent publication."""


def logged(what: str) -> None:
    """Log *what* as a warning: the default if the caller passes no `warn`."""
    # Producers run inside other programs. Unconfigured structlog would write to their standard output.
    logging.getLogger(__name__).warning(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMetadata:
    """Metadata that a transcript may lack; *compacting*: the session goes on without its start.

    Without a scope, the session gets that of its working directory; *cwd* is used where the transcript states none.
    """

    scope: Scope | None = None
    agent_id: str = "default"
    session_id: str | None = None
    cwd: str | None = None
    format: str | None = None
    reason: str = "other"
    compacting: bool = False


@dataclass(eq=False)
class SessionIntake:
    """Factory of session events.

    Content of up to *inline_limit* bytes is embedded in the event. Larger content is uploaded, unless *needs_upload*
    says that no consumer will ask for the upload of that event. Content is sent as *redact* returns it; a file that an
    event refers to stays as it is. *scopes* finds the scope of a session whose publisher names none.
    """

    uploads: Uploads
    keys: StoreKeys
    _: KW_ONLY
    inline_limit: int
    clock: Callable[[], datetime]
    redact: Callable[[Any], Any] = lambda content: content
    needs_upload: Callable[[SessionEvent], bool] = lambda _: True
    scopes: SessionScopes = field(default_factory=SessionScopes)

    def of_file(
        self, path: Path, about: SessionMetadata, *, send: bool = False, warn: Warn = logged
    ) -> Iterator[SessionEvent]:
        """Yield an event for each session in a file, usually one.

        The event refers to the file, or with *send* carries its content. A file of several sessions is always split and
        sent, since a reference names a whole file; its unusable sessions are reported at the end. *warn* is called if
        the file is compressed and damaged: the part before the damage is used.

        Raises `NotFound` for no such file, and `BadInput` for a file that holds no readable session, or an id that no
        event accepts.
        """
        _check_file(path)
        notes = ReadNotes()
        parts = tuple(split_sessions(path, notes))
        if parts:
            _warn_of_damage(path, notes.skipped, warn)
            if about.session_id is not None and len(parts) > 1:
                raise BadInput(f"{path} holds {len(parts)} sessions; they cannot all be called {about.session_id!r}")
            yield from self._of_parts(path, parts, about)
            return
        transcript = _read(path, about)
        _warn_of_damage(path, transcript.skipped, warn)
        place = self._place(about, _stated_id(transcript) or _name_of(path), transcript.header.cwd)
        if send:
            with session_content(path, format=about.format) as stream:
                content = ByteSource.on(stream).buffered().read()
            yield self.of_content(content, replace(about, scope=place[0], session_id=place[1]))
        else:
            yield self._event(about, place, transcript, dataref=path.resolve().as_uri())

    def _of_parts(self, path: Path, parts: Sequence[SessionPart], about: SessionMetadata) -> Iterator[SessionEvent]:
        complaints: list[BadInput] = []
        for part in parts:
            try:
                event = self.of_content(part.content, replace(about, session_id=part.id))
            except BadInput as error:
                complaints.append(error)
            else:
                yield event
        if complaints:
            counts = f"{len(complaints)} of its {len(parts)} sessions"
            raise BadInput(f"{path}: {counts} cannot be used, the first because: {complaints[0]}")

    def of_content(self, content: bytes | str | Messages, about: SessionMetadata) -> SessionEvent:
        """Return the event of a session given as text or as chat messages. Raises `BadInput`."""
        if not content:
            raise BadInput("the session is empty: it has no messages")
        try:
            content = cast("bytes | str | Messages", self.redact(content))
        except RecursionError as error:
            raise BadInput("the session is nested too deeply to be read") from error
        transcript = parse_transcript(content, format=about.format)
        place = self._place(about, _stated_id(transcript) or transcript.digest[:32], transcript.header.cwd)
        scope, session_id = place
        whole = _as_bytes(content)
        inline = _as_inline(content)
        if inline is not None and len(whole) <= self.inline_limit:
            return self._event(about, place, transcript, inline=inline)
        name = compacting_name(session_id) if about.compacting else session_id
        dataref = dataref_of(whole, keys=self.keys, scope=scope, session_id=name)
        event = self._event(about, place, transcript, dataref=dataref)
        if self.needs_upload(event):
            upload(self.uploads, whole, keys=self.keys, scope=scope, session_id=name)
        return event

    def touched(
        self, session: str | Path, about: SessionMetadata, *, background: bool = False, at: datetime | None = None
    ) -> SessionTouched:
        """Return a heartbeat event at the time *at*, or now, for the session in a file or of an id.

        A file is read only for the id and the scope of its session, and not if *about* names both. Raises `NotFound`
        for a path of no file, and `BadInput` for a file without exactly one session, and for ids that no event accepts.
        """
        path = _file_named(session)
        if path is None and about.session_id is not None:
            raise BadInput(f"there is no file {session}, of which {about.session_id!r} could be the session")
        scope, session_id = self._place_in(path, about) if path else self._place(about, str(session), None)
        dataref, moment = path.resolve().as_uri() if path else None, at or self.clock()
        content = (str(scope), session_id, about.agent_id, dataref, moment.isoformat(), background)
        event_id = uuid5(NAMESPACE, "\n".join((SessionTouched.type, *map(str, content))))
        return SessionTouched(
            id=event_id,
            time=self.clock(),
            source="nous/touch",
            scope=scope,
            agent_id=about.agent_id,
            session_id=session_id,
            trace_id=event_id,
            dataref=dataref,
            format=about.format,
            at=moment,
            background=background,
        )

    def _place_in(self, path: Path, about: SessionMetadata) -> tuple[Scope, str]:
        """Return scope and id of the only session in a file."""
        _check_file(path)
        if any(split_sessions(path)):
            raise BadInput(f"{path} holds many sessions; touch each by its id")
        if about.session_id is not None and about.scope is not None:
            return self._place(about, about.session_id, None)
        transcript = _read(path, about)
        return self._place(about, _stated_id(transcript) or _name_of(path), transcript.header.cwd)

    def _place(self, about: SessionMetadata, otherwise: str, cwd: str | None) -> tuple[Scope, str]:
        """Return scope and id of a session; the id is by default *otherwise*.

        The scope is by default that of *cwd*, which the transcript states, or else of the publisher's directory.
        """
        checked_name(about.agent_id, "the id of an agent")
        given = otherwise if about.session_id is None else about.session_id
        session_id = checked_name(given, "the id of a session")
        scope = about.scope
        if scope is None:
            scope = self.scopes.of_session(session_id, cwd) if cwd else self.scopes.of_directory(about.cwd)
        return scope, session_id

    def _event(
        self,
        about: SessionMetadata,
        place: tuple[Scope, str],
        transcript: Transcript,
        *,
        dataref: str | None = None,
        inline: str | tuple[Mapping[str, Any], ...] | None = None,
    ) -> SessionEvent:
        scope, session_id = place
        # Content and a file reference are two events, since one may succeed where the other is dead-lettered.
        carrier = "file" if dataref and dataref.startswith("file:") else "content"
        kind = SessionCompacting if about.compacting else SessionEnded
        # The same id for the same session and transcript, for every producer.
        event_id = uuid5(NAMESPACE, f"{kind.type}\n{scope}\n{session_id}\n{transcript.digest}\n{carrier}")
        known: dict[str, Any] = {
            "id": event_id,
            "trace_id": event_id,
            "time": self.clock(),
            "source": "nous/publish",
            "session_id": session_id,
            "transcript": inline,
            "dataref": dataref,
            "scope": scope,
            "agent_id": about.agent_id,
            "digest": transcript.digest,
            "bytes": transcript.bytes,
            "format": about.format,
        }
        if about.compacting:
            return SessionCompacting(**known, at=transcript.ended_at or self.clock())
        return SessionEnded(
            **known,
            reason=about.reason,
            started_at=transcript.started_at,
            ended_at=transcript.ended_at,
            cwd=transcript.header.cwd,
            git={"branch": branch} if (branch := transcript.header.git_branch) else None,
            model=transcript.header.model,
        )


def _check_file(path: Path) -> None:
    with accessing(path):
        if path.is_dir():
            raise BadInput(f"{path} is a directory; name the files in it, or sweep it: nous watch --once {path}")
        if path.is_fifo():
            raise BadInput(f"{path} is a pipe; workers read a session later: save it to a file, and publish that")
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is a device, not a file")


def _read(path: Path, about: SessionMetadata) -> Transcript:
    transcript = read_transcript(path, format=about.format)
    if reason := refusal(transcript, was_told=about.format is not None):
        raise BadInput(f"{path} {reason}")
    return transcript


def _file_named(session: str | Path) -> Path | None:
    """Return the path of a file, None for an id. Raises `NotFound` for a path without a file."""
    path = Path(session)
    with suppress(OSError, ValueError):  # an id may be longer than a name of a file can be
        if path.exists():
            return path
    if isinstance(session, Path) or path.name != session or path.suffix in {".json", ".jsonl"}:
        raise NotFound(f"there is no file {session}")
    return None


def _stated_id(transcript: Transcript) -> str:
    return (transcript.header.session_id or "").strip()


def _as_bytes(content: bytes | str | Messages) -> bytes:
    if isinstance(content, bytes):
        return content
    return content.encode(errors="replace") if isinstance(content, str) else orjson.dumps([dict(m) for m in content])


def _as_inline(content: bytes | str | Messages) -> str | tuple[Mapping[str, Any], ...] | None:
    """Return *content* for an event; None for bytes that are not UTF-8, which JSON cannot hold."""
    if isinstance(content, bytes):
        try:
            return content.decode()
        except UnicodeDecodeError:
            return None
    return content if isinstance(content, str) else tuple(content)


def _name_of(path: Path) -> str:
    # Files of one name in two folders are two sessions, so the folder is part of the name.
    name, folder = path.name.split(".")[0], path.resolve().parent
    if name == "transcript":
        return folder.name
    return f"{name.removeprefix('transcript-')}-{sha256(os.fsencode(folder)).hexdigest()[:6]}"


def _warn_of_damage(path: Path, skipped: Mapping[str, int], warn: Warn) -> None:
    if reason := damage(skipped):
        warn(f"{path}: {reason}; what comes before the damage is published")
