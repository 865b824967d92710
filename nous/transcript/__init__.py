"""Read and write agent session transcripts in any known file format.

Readers detect the format and return one `Transcript` model. `TranscriptWriter` records sessions of programs that keep
no transcript.
"""

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
