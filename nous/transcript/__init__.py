"""Read and write agent session transcripts in any known file format.

Readers detect the format and return one `Transcript` model. `TranscriptWriter` records sessions of programs that keep
no transcript.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nous.transcript.detect import UnknownFormat, known_readers
    from nous.transcript.discovery import transcript_path
    from nous.transcript.load import SessionPart, parse_transcript, read_transcript, split_sessions
    from nous.transcript.model import Entry, Header, Kind, Problem, Transcript, Trust, Turn
    from nous.transcript.recorder.artifacts import save_summarizer_input, save_summary
    from nous.transcript.recorder.events import TranscriptEvent
    from nous.transcript.recorder.events.codec import read_events
    from nous.transcript.recorder.writer import TranscriptWriter, should_transcript
    from nous.transcript.render.text_form import build_summarizer_input, format_for_summarizer
    from nous.transcript.render.turns import TurnText, group_into_turns
    from nous.transcript.tool_summary import extract_tool_summary

__all__ = [
    "Entry",
    "Header",
    "Kind",
    "Problem",
    "SessionPart",
    "Transcript",
    "TranscriptEvent",
    "TranscriptWriter",
    "Trust",
    "Turn",
    "TurnText",
    "UnknownFormat",
    "build_summarizer_input",
    "extract_tool_summary",
    "format_for_summarizer",
    "group_into_turns",
    "known_readers",
    "parse_transcript",
    "read_events",
    "read_transcript",
    "save_summarizer_input",
    "save_summary",
    "should_transcript",
    "split_sessions",
    "transcript_path",
]

_MODULES = {
    "Entry": "nous.transcript.model",
    "Header": "nous.transcript.model",
    "Kind": "nous.transcript.model",
    "Problem": "nous.transcript.model",
    "SessionPart": "nous.transcript.load",
    "Transcript": "nous.transcript.model",
    "TranscriptEvent": "nous.transcript.recorder.events",
    "TranscriptWriter": "nous.transcript.recorder.writer",
    "Trust": "nous.transcript.model",
    "Turn": "nous.transcript.model",
    "TurnText": "nous.transcript.render.turns",
    "UnknownFormat": "nous.transcript.detect",
    "build_summarizer_input": "nous.transcript.render.text_form",
    "extract_tool_summary": "nous.transcript.tool_summary",
    "format_for_summarizer": "nous.transcript.render.text_form",
    "group_into_turns": "nous.transcript.render.turns",
    "known_readers": "nous.transcript.detect",
    "parse_transcript": "nous.transcript.load",
    "read_events": "nous.transcript.recorder.events.codec",
    "read_transcript": "nous.transcript.load",
    "save_summarizer_input": "nous.transcript.recorder.artifacts",
    "save_summary": "nous.transcript.recorder.artifacts",
    "should_transcript": "nous.transcript.recorder.writer",
    "split_sessions": "nous.transcript.load",
    "transcript_path": "nous.transcript.discovery",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: most of nous needs the records of a transcript alone, and no reader or writer.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
