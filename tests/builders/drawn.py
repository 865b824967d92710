"""Transcripts as Hypothesis draws them: entries of every kind, awkward texts, calls of all sorts."""

from hypothesis import strategies as st

from nous.transcript.model import Entry, Kind, Transcript

PIECES = ["because", "ship", "\n", "\n\n", "```", "```py\nx = 1\n```", "# Plan", "- item", "a.b_c(d)", "日本。", "\r\n"]
LONG = ["", " ", "x" * 2500, "y z " * 700, "漢字" * 400, "\t" * 300, "```py\n" + "x = 1\n" * 200 + "```"]
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join), st.text(max_size=80)) | (
    st.sampled_from(LONG)
)
CALLS = st.sampled_from(
    [
        ("Bash", {"command": 'git commit -m "Fix it"'}),
        ("Edit", {"file_path": "/repo/src/a.py"}),
        ("TodoWrite", {"todos": [{"content": "first mend the reader, then the writer"}]}),
        ("book_flight", None),
        (None, None),
    ]
)


def transcript_of(entries: list[Entry]) -> Transcript:
    return Transcript(format="test", entries=tuple(entries), digest="0" * 64, bytes=1)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Up to 25 entries; a turn begins with a user's words, be they blank."""
    entries: list[Entry] = []
    turn = 0
    for number, kind in enumerate(draw(st.lists(st.sampled_from(Kind), max_size=25))):
        turn += kind is Kind.USER
        tool, given_ = draw(CALLS) if kind is Kind.TOOL_CALL else (None, None)
        failed = kind is Kind.TOOL_RESULT and draw(st.booleans())
        entry = Entry(kind, draw(TEXTS), f"e{number}", turn, tool=tool, tool_input=given_, is_error=failed)
        entries.append(entry)
    return transcript_of(entries)
