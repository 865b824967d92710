"""What a session file says, whatever program wrote it."""

from nous.transcript.model import Entry, Header, Kind, Problem, Transcript, Turn
from nous.transcript.paths import transcript_path
from nous.transcript.read import parse_transcript, read_transcript
from nous.transcript.sessions import Session, split_sessions
from nous.transcript.sniff import UnknownFormat, known_readers
from nous.transcript.tools.summary import extract_tool_summary
from nous.transcript.view.grouping import TurnText, group_into_turns

__all__ = [
    "Entry",
    "Header",
    "Kind",
    "Problem",
    "Session",
    "Transcript",
    "Turn",
    "TurnText",
    "UnknownFormat",
    "extract_tool_summary",
    "group_into_turns",
    "known_readers",
    "parse_transcript",
    "read_transcript",
    "split_sessions",
    "transcript_path",
]
