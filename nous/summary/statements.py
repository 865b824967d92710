"""A transcript as single statements: one sentence each, cleaned of markup, with who said it and in which turn."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nous.language import words
from nous.prose import sentences
from nous.summary.leads import Leads
from nous.transcript.model import Entry, Kind, Transcript

SPOKEN = frozenset({Kind.USER, Kind.ASSISTANT, Kind.DECISION})
DOCUMENT = 1_500
"""Characters from which a user's message is a pasted document: what it says is not what the user says."""

_QUOTATION = re.compile(
    r"(?<![\w\"])\"[^\"]*[.!?]\s[^\"]*\"|\u201c[^\u201c\u201d]*[.!?]\s[^\u201c\u201d]*\u201d|^>.*", re.MULTILINE
)
_LOGGED = re.compile(
    r"^(?:.*\b(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE)\b|\[?\d{4}-\d\d-\d\d\b"
    r"|\w[\w.]*[-_.\d][\w.-]*(?:\[\d+\])?: |User \w+: |npm (?:ERR!|WARN|error|warn)|//|/\*|\"\"\""
    r"|(?:hint|remote|fatal|error|warning|Error|Warning): ).*",
    re.MULTILINE,
)
_MARKUP = re.compile(
    r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d+[.)]\s+|\(\d{1,2}\)\s+|>\s+|\[[ x]\]\s+"
    r"|[\u2610-\u2612\u2705\u2713-\u2718\u274c\u26a0\u27a1\u2192]\ufe0f?\s*)+"
)
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{1,2000}\)")
_MARKER = re.compile(r"(?<!\s)\s*#{3}[A-Z]+#{3}\s*")
_WORD = re.compile(r"[\w'-]+")
_WORDS_BESIDE_THANKS = 2
_POLITE = ("thanks", "praise", "goodbye")
_WORDS_OF_HEADING = 3
SUBSTANCE = 4
"""Words of a sentence that says something."""

_TERM = re.compile(r"[\w.-]{2,}")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence. `is_quoted` means that it stands in a document the speaker pasted.

    `place` is that of its entry in the transcript, from 0, and `start` where it begins there, in characters. `under` is
    what it stands under: headings, and what leads in its list.
    """

    text: str
    speaker: Kind
    turn: int
    place: int = 0
    start: int = 0
    is_heading: bool = False
    is_quoted: bool = False
    under: tuple[str, ...] = ()

    @property
    def is_question(self) -> bool:
        return self.text.rstrip("\"')").endswith("?") or (
            self.speaker is Kind.USER and words().opens("question", self.text)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What stands for the requests of one turn, and the first heading of a document pasted with them.

    `is_wish` tells requests and questions from answers and other statements.
    """

    text: str
    is_wish: bool
    heading: str | None

    def __str__(self) -> str:
        return f"{self.text.rstrip(':')}: {self.heading}" if self.heading and self.text.endswith(":") else self.text


def statements(transcript: Transcript) -> tuple[Statement, ...]:
    """Everything people and agents said, in order. Code, tables and tool output are left out."""
    spoken = ((place, entry) for place, entry in enumerate(transcript) if entry.kind in SPOKEN)
    return tuple(one for place, entry in spoken for one in statements_of(entry, place))


def statements_of(entry: Entry, place: int) -> Iterator[Statement]:
    """What the entry at *place* says."""
    is_document = entry.kind is Kind.USER and len(entry.text) > DOCUMENT
    quotations = () if is_document else tuple(_quotations(entry))
    leads, line, line_ends = Leads(), "", -1
    for start, end in sentences(entry.text):
        raw = entry.text[start:end]
        if start > line_ends:
            line, line_ends = _line_at(entry.text, start)
        if (text := plain(raw)) and not raw.lstrip().startswith(("```", "|", "<")):
            yield Statement(
                text=text,
                speaker=entry.kind,
                turn=entry.turn,
                place=place,
                start=start,
                is_heading=raw.lstrip().startswith("#"),
                is_quoted=is_document or any(start < last and end > first for first, last in quotations),
                under=leads.over(raw, line),
            )


def _quotations(entry: Entry) -> Iterator[tuple[int, int]]:
    """Where the user's words are somebody else's: in quotation marks around whole sentences, and in lines of a log."""
    if entry.kind is Kind.USER:
        yield from (found.span() for pattern in (_QUOTATION, _LOGGED) for found in pattern.finditer(entry.text))


def _line_at(text: str, place: int) -> tuple[str, int]:
    """The line that *place* is on, and where it ends."""
    found = text.find("\n", place)
    end = found if found >= 0 else len(text)
    return text[text.rfind("\n", 0, place) + 1 : end], end


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
    idle, polite = known.sets["stopwords"], known.sets["courtesy"]
    told = [word for word in _WORD.findall(rest.lower()) if word not in idle and word not in polite]
    return len(told) <= (_WORDS_BESIDE_THANKS if is_polite else 0)


def says_done(one: Statement) -> bool:
    """Whether a statement says that something came to be; what is promised, refused or only possible does not count."""
    known = words()
    if not known.says("done", one.text):
        return False
    is_less = any(known.says(name, one.text) for name in ("undone", "about_to", "hedge"))
    return not (is_less or known.opens("condition", one.text) or one.is_question)


def asked_in(said: Sequence[Statement]) -> Asked:
    """The first sentence of a turn that wishes something, or else the first of some substance."""
    headings = (one.text for one in said if one.is_heading and len(one.text.split()) >= _WORDS_OF_HEADING)
    headings = (text for text in headings if not words().opens("general_heading", text))
    telling = [one for one in said if len(one.text.split()) >= SUBSTANCE and not _is_label(one)] or said
    wish = next((one for one in telling if is_wish(one)), None)
    return Asked(text=(wish or telling[0]).text, is_wish=wish is not None, heading=next(headings, None))


def _is_label(one: Statement) -> bool:
    """Whether it stands over what is said, as a heading does, and names nothing."""
    return one.text[-1] not in ".?!" and words().opens("general_heading", one.text)


def is_wish(one: Statement) -> bool:
    """Whether a statement asks for something, and says for what."""
    named = terms(one.text)
    return (bool(named) and words().opens("wish", one.text)) or (len(named) > 1 and one.is_question)


def without_wish(text: str) -> str:
    """*text* without what it asks for at its end."""
    told, comma, asked = text.rpartition(", ")
    return told if comma and words().opens("wish", asked) else text


def is_proposed(one: Statement) -> bool:
    """Whether a statement is what could or should be done: it stands under a plan or options, or begins as an order."""
    known = words()
    return any(known.says("proposes", lead) for lead in one.under) or known.opens("wish", one.text)


def is_of_work(one: Statement) -> bool:
    """Whether a statement stands under what tells what was wrong, or what was done about it."""
    return any(words().says("tells_of_work", lead) for lead in one.under)


def is_polite(one: Statement) -> bool:
    return is_courtesy(one.text) or words().says("offers_more", one.text)


def terms(text: str) -> set[str]:
    """The words in *text* that may tell it from others, in lower case."""
    known = words()
    found = {term.rstrip(".-") for term in _TERM.findall(text.lower())}
    return found - known.sets["stopwords"] - known.sets["general"] - {""}


def refused(said: Sequence[Statement]) -> Iterator[Statement]:
    """The refusals of one reply; one that asks for what is missing refuses nothing yet."""
    known = words()
    if not said or said[0].speaker is not Kind.ASSISTANT or any(known.says("asks_details", one.text) for one in said):
        return
    for one in said:
        if known.says("refuses", one.text) and not known.says("offers_more", one.text) and not one.is_question:
            yield one


def deeds(text: str) -> frozenset[str]:
    """Which kinds of service a text names: the lists of words that begin with `deed_`."""
    named = set(_WORD.findall(text.lower().replace("_", " ")))
    sets = words().sets
    return frozenset(name for name in sets if name.startswith("deed_") and not named.isdisjoint(sets[name]))
