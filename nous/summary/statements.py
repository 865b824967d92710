"""A transcript as single statements: one sentence each, cleaned of markup, with who said it and in which turn."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nous.language import words
from nous.prose import sentences
from nous.transcript.model import Entry, Kind, Transcript

SPOKEN = frozenset({Kind.USER, Kind.ASSISTANT, Kind.DECISION})
DOCUMENT = 1_500
"""Characters from which a user's message is a pasted document: what it says is not what the user says."""

_MARKUP = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d+[.)]\s+|>\s+|\[[ x]\]\s+)+")
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{1,2000}\)")
_MARKER = re.compile(r"(?<!\s)\s*#{3}[A-Z]+#{3}\s*")
_WORD = re.compile(r"[\w'-]+")
_WORDS_BESIDE_THANKS = 2
_POLITE = ("thanks", "praise", "goodbye")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence. `is_quoted` means that it stands in a document the speaker pasted."""

    text: str
    speaker: Kind
    turn: int
    is_heading: bool = False
    is_quoted: bool = False

    @property
    def is_question(self) -> bool:
        return self.text.rstrip("\"')").endswith("?") or (
            self.speaker is Kind.USER and words().opens("question", self.text)
        )


def statements(transcript: Transcript) -> tuple[Statement, ...]:
    """Everything people and agents said, in order. Code, tables and tool output are left out."""
    return tuple(one for entry in transcript if entry.kind in SPOKEN for one in statements_of(entry))


def statements_of(entry: Entry) -> Iterator[Statement]:
    """What one entry says."""
    is_quoted = entry.kind is Kind.USER and len(entry.text) > DOCUMENT
    for start, end in sentences(entry.text):
        raw = entry.text[start:end]
        if (text := plain(raw)) and not raw.lstrip().startswith(("```", "|", "<")):
            yield Statement(
                text=text,
                speaker=entry.kind,
                turn=entry.turn,
                is_heading=raw.lstrip().startswith("#"),
                is_quoted=is_quoted,
            )


def plain(text: str) -> str:
    """*text* on one line, without list marks, emphasis, link targets and the stop marks of test harnesses."""
    text = _MARKER.sub(" ", _LINK.sub(r"\1", text))
    text = _EMPHASIS.sub(lambda found: found[1] or found[2] or found[3], _MARKUP.sub("", text))
    return _SPACE.sub(" ", text.replace("**", "")).strip()


def shortened(text: str, longest: int) -> str:
    """*text*, or as many whole words of it as *longest* characters hold, with an ellipsis."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    return f"{head[: head.rfind(' ') if ' ' in head[longest // 2 :] else len(head)].rstrip(' ,;:')}…"


def is_courtesy(text: str) -> bool:
    """Whether *text* only greets, thanks, agrees or says goodbye."""
    known = words()
    if text.endswith("?"):
        return False
    rest = text
    for name in _POLITE:
        rest = known.contains[name].sub(" ", rest)
    is_polite = rest != text
    told = [
        word for word in _WORD.findall(rest.lower()) if word not in known.sets["stopwords"] | known.sets["courtesy"]
    ]
    return len(told) <= (_WORDS_BESIDE_THANKS if is_polite else 0)
