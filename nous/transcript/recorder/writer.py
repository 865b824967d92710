"""The transcript of a session, written while it happens."""

import json
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from nous.domain.errors import BadInput, NousError, Unavailable
from nous.transcript.discovery import sub_agent_transcript_path, transcript_path
from nous.transcript.io.json_values import parse
from nous.transcript.io.lines import LONGEST_LINE
from nous.transcript.recorder.events import EventCodec, TranscriptEvent
from nous.transcript.recorder.events.codec import STAMP
from nous.transcript.recorder.events.conversation import Reasoning, TextDelta
from nous.transcript.recorder.events.sub_agents import SubAgentTextDelta, SubAgentToolRequest, SubAgentToolResult
from nous.transcript.recorder.events.tool_use import ToolOutputChunk
from nous.transcript.recorder.file_append import append_element, append_line

OF_SUB_AGENTS = frozenset({SubAgentToolRequest.TYPE, SubAgentToolResult.TYPE})
"""Kept apart, in a transcript of the sub-agent's own."""

_STREAMED = frozenset({TextDelta.TYPE, Reasoning.TYPE, ToolOutputChunk.TYPE, SubAgentTextDelta.TYPE})


def should_transcript(event: TranscriptEvent | Mapping[str, Any] | str) -> bool:
    """Whether the transcript of a session keeps *event* (or events of the type so named).

    It does not keep what is streamed, since the whole follows, nor what sub-agents do with tools. Types that are not
    known are kept.
    """
    name = event.type if isinstance(event, TranscriptEvent) else event if isinstance(event, str) else event.get("type")
    return not isinstance(name, str) or name not in _STREAMED | OF_SUB_AGENTS


Layout = Literal["lines", "array"]

_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class TranscriptWriter:
    """Appends what happens in a session to its transcript: one JSON line an event, for agents that keep none.

    Any number of threads and processes may write to one session; the events of each stay in their order. A process
    that is killed leaves one torn line at worst, and whoever writes next begins a new one. What sub-agents do with
    tools goes into transcripts of their own, beside the session's.

    A failure never disturbs the agent's turn: it is logged and counted in `failures`, and `append` says that nothing
    was written. With *strict*, it is raised instead: as `Unavailable` where the disk is at fault, and as `BadInput`
    where the event is.
    """

    def __init__(
        self,
        session: str,
        *,
        base: Path | str | None = None,
        layout: Layout = "lines",
        durable: bool = False,
        strict: bool = False,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """Write the transcript of *session* below *base*, as `transcript_path` has it. Nothing is written yet.

        The layout "array" writes one pretty array anew at each event, which is slow and meant for the eye. With
        *durable* each event is on the disk when `append` returns. Raises BadInput for an id that is no plain name, and
        for a layout that there is not.
        """
        if layout not in get_args(Layout):
            raise BadInput(f"there is no layout {layout!r}; choose one of {', '.join(get_args(Layout))}")
        self.path = transcript_path(session, base=base)
        self.failures = 0
        self._session = session
        self._base = base
        self._layout: Layout = layout
        self._durable = durable
        self._strict = strict
        self._clock = clock
        self._codec = EventCodec()

    def append(self, event: TranscriptEvent | Mapping[str, Any]) -> bool:
        """Write *event*, or the event that an object with a `type` tells. Returns whether it was written.

        What a transcript does not keep (`should_transcript`) is not; that is no failure.
        """
        try:
            return self._append(event)
        except OSError as error:
            return self._failed(Unavailable(f"{self.path} could not be written: {error.strerror or error}"), error)
        except Exception as error:  # noqa: BLE001  whatever an event is made of, the agent's turn goes on
            return self._failed(BadInput(f"an event of session {self._session} was not written: {error!r}"), error)

    def _append(self, event: TranscriptEvent | Mapping[str, Any]) -> bool:
        told = self._told(event)
        if told.type in OF_SUB_AGENTS:
            path = self._path_of_sub_agent(told)
        elif should_transcript(told):
            path = self.path
        else:
            return False
        line = _line({STAMP: _stamp(self._clock()), **self._codec.encode(told)})
        if len(line) > LONGEST_LINE:
            raise BadInput(f"it takes {len(line)} bytes, and no reader takes more than {LONGEST_LINE} on a line")
        if self._layout == "array":
            append_element(path, parse(line), durable=self._durable)
        else:
            append_line(path, line, durable=self._durable)
        return True

    def _told(self, event: TranscriptEvent | Mapping[str, Any]) -> TranscriptEvent:
        if isinstance(event, TranscriptEvent):
            return event
        if not isinstance(event, Mapping) or not isinstance(event.get("type"), str):  # pyright: ignore[reportUnnecessaryIsInstance] agents are not checked
            raise BadInput("it has no type")
        return self._codec.decode(event)

    def _path_of_sub_agent(self, event: TranscriptEvent) -> Path:
        told = self._codec.encode(event)
        agent, request = (str(told.get(name) or "") for name in ("agent_id", "parent_request_id"))
        return sub_agent_transcript_path(self._session, agent, request, base=self._base)

    def _failed(self, failure: NousError, cause: Exception) -> bool:
        if self._strict:
            raise failure from cause
        self.failures += 1
        if self.failures.bit_count() == 1:  # the first, second, fourth ...: a full disk would fill the log as well
            _log.warning("%s (%d failures so far)", failure, self.failures)
        return False


def _line(event: Mapping[str, Any]) -> bytes:
    """*event* on one line. What strict JSON has no word for is written as it can be, rather than lost."""
    try:
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(event, default=str, separators=(",", ":")).encode() + b"\n"


def _stamp(time: datetime) -> str:
    """RFC 3339, in UTC, to the microsecond."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
