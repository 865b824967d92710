"""Split messages into plain sentences; classify and compare them; find identifiers."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from nous.redaction.rules import PLACEHOLDER
from nous.text.language import patterns, words
from nous.text.pasted import LONGEST_TYPED, pasted_spans
from nous.text.sentences import sentences
from nous.transcript.model import Entry, Kind

T = TypeVar("T")

_PATTERNS = patterns("nous.summary.heuristic", "patterns", "sentences")
_MARKUP = _PATTERNS["markup"]
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{1,2000}\)")
# Characters in a row without a space, and more of them in scripts without spaces; how many of them are kept.
_DATA, _SHOWN = re.compile(r"(?<![!-\u2fff])[!-\u2fff]{400,}|(?<!\S)\S{4000,}"), 60
# The mark of the next list item, if it stands behind the sentence before it.
_NEXT_NUMBER = re.compile(r"(?<=[.!?])\s+\d+[.)]\s*\Z")
_HARNESS_MARK = re.compile(r"(?<!\s)\s*#{3}[A-Z]+#{3}\s*")
_QUOTED = _PATTERNS["quoted"]
_NOT_PROSE = ("```", "|", "<", "{", "$ ", "//", "@@")
_IDENTIFIER = _PATTERNS["identifier"]
_BARE_WORD = re.compile(r"[\w'-]+")
_WORD = re.compile(r"[\w.+#-]*\w")
_DENIAL = re.compile(r"\b(?:not?|never|none|nothing|without|cannot)\b|n['\u2019]t\b", re.IGNORECASE)
_ALIKE = 0.5
POINTS_BACK = _PATTERNS["points_back"]

_SPACE = re.compile(r"\s+")


class Sentence(NamedTuple):
    """One sentence or list item of a message.

    `place` is the index of its entry in the transcript. `is_quoted` marks text that the speaker pasted: a log, a
    quotation, or a whole document.
    """

    text: str
    speaker: Kind
    turn: int
    place: int
    is_heading: bool = False
    is_item: bool = False
    is_quoted: bool = False

    @property
    def is_question(self) -> bool:
        """Return whether it asks something: by its mark, or, from a user, by its first words."""
        return self.text.rstrip("\"')").endswith("?") or (
            self.speaker is Kind.USER and words().opens("question", self.text)
        )


def sentences_of(entry: Entry, place: int) -> tuple[Sentence, ...]:
    """Return the prose sentences of the entry at *place*, without code blocks, tables and tags."""
    is_user = entry.kind is Kind.USER
    is_document = is_user and len(entry.text) > LONGEST_TYPED
    quotations: list[tuple[int, int]] = []
    if is_user and not is_document:
        quotations = [*(found.span() for found in _QUOTED.finditer(entry.text)), *pasted_spans(entry.text)]
    found: list[Sentence] = []
    for start, end in sentences(entry.text):
        raw = entry.text[start:end]
        if raw.lstrip().startswith(_NOT_PROSE) or not (text := plain(raw)):
            continue
        is_quoted = is_document or any(start < last and end > first for first, last in quotations)
        is_heading, is_item = raw.lstrip().startswith("#"), _MARKUP.match(raw) is not None
        found.append(Sentence(text, entry.kind, entry.turn, place, is_heading, is_item, is_quoted))
    return tuple(found)


def plain(text: str) -> str:
    """Return *text* on one line without markup, and with data cut, on which patterns are slow."""
    text = _DATA.sub(lambda found: f"{found[0][:_SHOWN]}…", text)
    text = _HARNESS_MARK.sub(" ", _LINK.sub(r"\1", text))
    text = _EMPHASIS.sub(lambda found: found[1] or found[2] or found[3], _MARKUP.sub("", _NEXT_NUMBER.sub("", text)))
    return _SPACE.sub(" ", text.replace("**", "")).strip()


def identifiers(text: str) -> list[str]:
    """Return names of code, files, options, tickets, and numbers in *text*, without backticks."""
    return [found.strip("`") for found in _IDENTIFIER.findall(text)]


def names(text: str) -> list[str]:
    """Return the `identifiers` that are no plain numbers."""
    return [found for found in identifiers(text) if not found[0].isdigit()]


def content_words(text: str) -> list[str]:
    """Return the distinctive words of *text*, lower-case, in order, without stop words."""
    known = words()
    idle = known.sets["stopwords"] | known.sets["general"]
    found = (word.strip(".-+#").lower() for word in _WORD.findall(PLACEHOLDER.sub(" ", text)))
    return [word for word in found if len(word) > 1 and word not in idle and not word.isdigit()]


def telling_words(text: str) -> list[str]:
    """Return the words and numbers of *text* that are no stop words."""
    idle = words().sets["stopwords"]
    return [
        word for word in (found.lower().strip(".-+#") for found in _WORD.findall(text)) if word and word not in idle
    ]


def alike(one: str, other: str) -> bool:
    """Return whether two statements share half of their words, all identifiers and negations."""
    first, second = set(content_words(one)), set(content_words(other))
    if set(identifiers(one)) != set(identifiers(other)) or len(_DENIAL.findall(one)) != len(_DENIAL.findall(other)):
        return False
    return bool(first) and len(first & second) >= _ALIKE * len(first | second)


def distinct(said: Iterable[T], most: int, text_of: Callable[[T], str] = str) -> list[T]:
    """Return the first *most* of *said*, none of which is `alike` one before it."""
    kept: list[T] = []
    for one in said:
        if len(kept) < most and not any(alike(text_of(one), text_of(other)) for other in kept):
            kept.append(one)
    return kept


def is_courtesy(text: str) -> bool:
    """Return whether *text* only greets, thanks, agrees or takes leave."""
    known = words()
    if text.endswith("?"):
        return False
    rest = text
    for name in ("thanks", "praise", "goodbye"):
        rest = known.contains[name].sub(" ", rest)
    idle = known.sets["stopwords"] | known.sets["courtesy"]
    left = [word for word in _BARE_WORD.findall(rest.lower()) if word not in idle]
    return len(left) <= (2 if rest != text else 0)


def is_go_ahead(text: str) -> bool:
    """Return whether *text* is a courtesy, or only agrees to a proposal."""
    known = words()
    idle = known.sets["stopwords"] | known.sets["courtesy"] | known.sets["orders"]
    found = _BARE_WORD.findall(text.lower())
    agrees = bool(found) and found[0] in known.sets["courtesy"] and not text.endswith("?")
    return is_courtesy(text) or (agrees and all(word in idle for word in found))


def is_farewell(text: str) -> bool:
    """Return whether *text* thanks, praises or takes leave, and asks for nothing more."""
    known = words()
    is_kind = any(known.says(name, text) for name in ("thanks", "praise", "goodbye"))
    asks_more = text.endswith("?") or any(known.says(name, text) for name in ("wants_more", "complaint", "handed_over"))
    return is_kind and not asks_more


def joined(said: Sequence[str]) -> str:
    return " ".join(one if one.endswith((".", "!", "?", ":", ";")) else f"{one}." for one in said)
