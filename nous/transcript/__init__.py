"""Public API for transcripts, imported on first use: read, record, render, split into turns.

Readers detect the format. `TranscriptWriter` records sessions of programs that keep no transcript.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nous.transcript.detect import UnknownFormat, known_readers
    from nous.transcript.discovery import transcript_path
    from nous.transcript.load import SessionPart, parse_transcript, read_transcript, split_sessions
    from nous.transcript.model import Entry, Header, Kind, Problem, Transcript, Trust, Turn
    from nous.transcript.recorder.events import TranscriptEvent, read_events
    from nous.transcript.recorder.writer import TranscriptWriter, save_summarizer_input, save_summary, should_transcript
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

_MODULES = ("model", "tool_summary", "detect", "load", "render.turns", "render.text_form", "recorder.writer")
"""Modules with the public names, directly or imported; those that load fastest first."""


def __getattr__(name: str) -> Any:
    # Imported on first use: most of nous needs the records of a transcript alone, and no reader or writer.
    for module in _MODULES if name in __all__ else ():
        found = import_module(f"{__name__}.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
