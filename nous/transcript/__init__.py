"""What a session file says, whatever program wrote it; and writing one, for programs that write none."""

from nous.transcript.events import TranscriptEvent
from nous.transcript.events.stored import read_events
from nous.transcript.model import Entry, Header, Kind, Problem, Transcript, Trust, Turn
from nous.transcript.paths import transcript_path
from nous.transcript.read import parse_transcript, read_transcript
from nous.transcript.sessions import Session, split_sessions
from nous.transcript.sniff import UnknownFormat, known_readers
from nous.transcript.tools.summary import extract_tool_summary
from nous.transcript.view.grouping import TurnText, group_into_turns
from nous.transcript.writing.artifacts import save_summarizer_input, save_summary
from nous.transcript.writing.kept import should_transcript
from nous.transcript.writing.summarizer_input import build_summarizer_input
from nous.transcript.writing.text_form import format_for_summarizer
from nous.transcript.writing.writer import TranscriptWriter

__all__ = [
    "Entry",
    "Header",
    "Kind",
    "Problem",
    "Session",
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
