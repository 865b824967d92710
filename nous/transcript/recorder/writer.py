"""Append-only writer of a session's transcript, used while the session runs."""

import json
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from nous.domain.errors import BadInput
from nous.transcript.discovery import sub_agent_transcript_path, transcript_path
from nous.transcript.io.lines import LONGEST_LINE
from nous.transcript.io.records import parse
from nous.transcript.recorder.events import STAMP, TranscriptEvent
from nous.transcript.recorder.files import append_element, append_line

_OF_SUB_AGENTS = frozenset({"sub_agent_tool_request", "sub_agent_tool_result"})
"""Events that are written to the sub-agent's own transcript."""

_STREAMED = frozenset({"text_delta", "reasoning", "tool_output_chunk", "sub_agent_text_delta"})


def should_transcript(event: TranscriptEvent | Mapping[str, Any] | str) -> bool:
    """Return whether a session's transcript keeps *event* (or events of that type name).

    Streamed parts are not kept, since the whole follows; nor is the tool use of sub-agents. Unknown types are kept.
    """
    name = event.type if isinstance(event, TranscriptEvent) else event if isinstance(event, str) else event.get("type")
    return not isinstance(name, str) or name not in _STREAMED | _OF_SUB_AGENTS


Layout = Literal["lines", "array"]

_now = partial(datetime.now, UTC)
_log = logging.getLogger(__name__)


class TranscriptWriter:
    """Append the events of a session to its transcript, one JSON line per event.

    For agents that keep no transcript. Any number of threads and processes may write to one session; the events of each
    keep their order. A killed process leaves at most one torn line, and the next write begins a new one. The tool use
    of sub-agents goes to transcripts of their own, beside the session's.

    A failure never interrupts the agent's turn: it is logged and counted in `failures`, and `append` returns False.
    """

    def __init__(
        self,
        session: str,
        *,
        base: Path | str | None = None,
        layout: Layout = "lines",
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """Prepare to write the transcript of *session* to its `transcript_path` below *base*.

        Nothing is written yet. The layout "array" rewrites one pretty array at each event, which is slow and meant for
        reading by people. Raises BadInput for an id that is no plain name, and for an unknown layout.
        """
        if layout not in get_args(Layout):
            raise BadInput(f"there is no layout {layout!r}; choose one of {', '.join(get_args(Layout))}")
        self.path = transcript_path(session, base=base)
        self.failures = 0
        self._session = session
        self._base = base
        self._layout: Layout = layout
        self._clock = clock

    def append(self, event: TranscriptEvent | Mapping[str, Any]) -> bool:
        """Write *event*; return whether it was written: False too if it is not kept."""
        try:
            return self._append(event)
        except OSError as error:
            return self._failed(f"{self.path} could not be written: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001  an invalid event must not interrupt the agent's turn
            return self._failed(f"an event of session {self._session} was not written: {error!r}")

    def _append(self, event: TranscriptEvent | Mapping[str, Any]) -> bool:
        known = event if isinstance(event, TranscriptEvent) else TranscriptEvent.of(event)
        if not known.type:
            raise BadInput("it has no type")
        if known.type in _OF_SUB_AGENTS:
            agent, request = (str(known.fields.get(name) or "") for name in ("agent_id", "parent_request_id"))
            path = sub_agent_transcript_path(self._session, agent, request, base=self._base)
        elif should_transcript(known):
            path = self.path
        else:
            return False
        time = f"{self._clock().astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
        line = _line({STAMP: time, **known.as_json()})
        if len(line) > LONGEST_LINE:
            raise BadInput(f"it takes {len(line)} bytes, and no reader takes more than {LONGEST_LINE} on a line")
        if self._layout == "array":
            append_element(path, parse(line))
        else:
            append_line(path, line)
        return True

    def _failed(self, reason: str) -> bool:
        self.failures += 1
        if self.failures.bit_count() == 1:  # log failures 1, 2, 4, 8 ...: a full disk would fill the log too
            _log.warning("transcript_writer.append_failed: %s (%d failures so far)", reason, self.failures)
        return False


def _line(event: Mapping[str, Any]) -> bytes:
    """Encode *event* on one line; values that JSON cannot express are approximated, not lost."""
    try:
        return orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(event, default=str, separators=(",", ":")).encode() + b"\n"
