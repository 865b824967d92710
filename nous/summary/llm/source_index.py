"""Find the session turns that state a text's numbers, paths and names, and most words.

Literals of a statement are numbers, paths, identifiers and quotes: no paraphrase changes them. They are compared in one
normal form: NFKC, casefolded, with one kind of quote, apostrophe, hyphen and space, and without the marks of code and
emphasis. `9,017` is 9017 and `v1.20` is 1.20; a number is separate from its unit. Of a date in ISO 8601, year and day
count: its month may be written as a word.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from nous.domain.episode import Trust
from nous.domain.summary_input import SummaryInput
from nous.text.injection import reports_on_document
from nous.text.language import words
from nous.text.pasted import is_brief, split
from nous.text.sentences import sentences
from nous.transcript.model import WEB_TOOLS

_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff`")
)

_ISO = re.compile(r"(?<![\w-])(\d{4})-\d\d-(\d\d)(?=t\d|(?![\w-]))")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[,_']\d{3})+(?!\d|[,_']\d)")
_NUMBER = re.compile(r"(?<![^\W\d_])(?<!\d)(?<!\d\.)v?(\d+(?:\.\d+)*)(?!\d)(?=[^\W\d_]{0,12}(?!\w))")
_TURNS = re.compile(r"\bturns? #?\d+(?:(?:,? (?:and|to|or|&)|,| ?-) ?#?\d+)*(?!\w|\.\d)", re.IGNORECASE)
_WORD = re.compile(r"\w+")

_QUOTED = re.compile(r"```(.+?)```|`([^`]+)`|\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|\u00ab([^\u00bb]+)\u00bb", re.DOTALL)
_URL = re.compile(r"\b[a-z][a-z+.-]*://[^\s<>\"]+", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/])(?:~|\.{1,2})?/?[\w.@+-]+(?:/[\w.@+*-]+)+/?|(?<![\w/])(?:~|\.{0,2})/[\w.@+-]+")
_HASH = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![\w-])--[a-z][\w-]*"
    r"|\b[^\W\d]\w*(?:\.[^\W\d]\w*)+"
    r"|\b\w*[^\W_]_\w+|\b_\w+"
    r"|\b[^\W\d_]*[a-z][A-Z]\w*"
    r"|\b(?=\w*\d)(?!\d+[^\W\d_]{0,12}\b)\w+"
    r"|(?<![\w.)\]])\.[^\W\d]\w+"
)
_VERSION_OF = re.compile(r"v\d+", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_CLOSING = ".,;:!?)]}'"
_ELISION = re.compile(r"\s*(?:\.\.\.|\u2026)\s*")


class Literal(NamedTuple):
    """Literal in its normal form, and its kind, which decides how it is compared."""

    kind: str
    text: str


def plain(text: str) -> str:
    form = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return " ".join(_GROUPED.sub(_ungrouped, form.casefold().replace("**", "")).split())


def literals_in(text: str) -> frozenset[Literal]:
    """Return the literals that a source of *text* must contain; turn numbers are not among them."""
    found: set[Literal] = set()
    rest = _TURNS.sub(" ", unicodedata.normalize("NFKC", text))
    rest = _quoted(rest, found)
    for pattern, literal_of in _FORMS:
        rest = _taken(pattern, rest, literal_of, found)
    rest = _ISO.sub(r"\1 \2", plain(rest))
    return frozenset(found | {Literal("number", number) for number in _numbers(rest)})


def _quoted(text: str, found: set[Literal]) -> str:
    def take(quote: re.Match[str]) -> str:
        said = next(part for part in quote.groups() if part is not None)
        is_code = quote[0][0] == "`"
        for part in _ELISION.split(said):
            if is_code and (code := plain(part).strip(" ")):
                found.add(Literal("code", code))
            elif spoken := _WORD.findall(plain(part)):
                found.add(Literal("quote", f" {' '.join(spoken)} "))
                found.update(Literal("number", number) for number in _numbers(plain(part)))
        return " "

    return _QUOTED.sub(take, text)


def _path(written: str) -> Literal | None:
    """Return the literal of a path; None for `and/or` and the like, and for fractions."""
    path = written.rstrip(".")
    parts = [part for part in path.split("/") if part]
    is_path = path[0] in "/~." or len(parts) > 2 or "." in parts[-1] or "_" in path
    is_fraction = all(part.replace(".", "").isdigit() for part in parts)
    return Literal("path", plain(path.rstrip("/"))) if is_path and parts and not is_fraction else None


def _name(written: str) -> Literal | None:
    is_none = _VERSION_OF.fullmatch(written) or _INITIALS.fullmatch(written)
    return None if is_none else Literal("name", plain(written))


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], Literal | None]], ...] = (
    (_URL, lambda written: Literal("link", plain(written.rstrip(_CLOSING + "/")))),
    (_PATH, _path),
    (_HASH, lambda written: Literal("hash", plain(written))),
    (_NAME, _name),
)


def _taken(pattern: re.Pattern[str], text: str, token_of: Callable[[str], Literal | None], found: set[Literal]) -> str:
    def take(written: re.Match[str]) -> str:
        token = token_of(written[0])
        if token is None:
            return written[0]
        found.add(token)
        return " "

    return pattern.sub(take, text)


def _bounded(token: Literal) -> re.Pattern[str]:
    """Return a pattern for *token* alone; a hash may begin a longer one, a path end one."""
    first, last = token.text[0], token.text[-1]
    before = r"(?<!\w)(?<!\d\.)" if first.isalnum() or first == "_" else ""
    if token.kind == "path":
        before = r"(?<![\w./~-])" if token.text[0] in "/~." else r"(?<![\w.-])"
    after = r"(?!\w)" if last.isalpha() or last == "_" else r"(?!\w|\.\d)" if last.isdigit() else ""
    if token.kind in {"path", "link"}:
        after = r"(?![\w-]|\.\w)"
    if token.kind == "hash":
        after = ""
    return re.compile(f"{before}{re.escape(token.text)}{after}")


def _numbers(text: str) -> list[str]:
    return [_canonical(number[1]) for number in _NUMBER.finditer(text)]


def _canonical(number: str) -> str:
    """Return *number* without leading zeros, and without those at the end of a decimal."""
    whole, _, rest = number.partition(".")
    rest = rest if "." in rest else rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")


def _ungrouped(number: re.Match[str]) -> str:
    return re.sub(r"\D", "", number[0])


MOST = 0.6  # the share of a statement's words that counts as most of it
_DECISION = "Decision"
BRIEF = "Brief"
"""Role of a long message without any mark of a page: it counts as one, but also for what the session is about."""

PASTED = "Pasted"
"""Role of what a person pasted: anyone may have written it, as with a page."""

REPORTED = "Reported"
"""Role of what an agent tells of a page or a file: it is the page's word."""

_AGENT = "Assistant"
_FIRST_PERSON = re.compile(r"\W*(?:I|we)\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
TYPED = "User"
_PERSONAL = frozenset({TYPED, _DECISION})
_MOST_TURNS = 3
_STEMMED = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s|e|'s)\Z")
_STEM, _SHORTEST = 6, 3
_UNSPACED = "\u2e80"
"""Scripts from this character on have no spaces between words; there, character pairs stand for words."""

_SPEAKERS = frozenset({"user", "assistant", "agent"})


def content_of(text: str) -> frozenset[str]:
    """Return the stems of the content words of *text*."""
    empty = words().sets["stopwords"] | _SPEAKERS
    found = (word for word in _STEMMED.findall(plain(text)) if word not in empty)
    return frozenset(stem for word in found for stem in _stems(word))


def _stems(word: str) -> Iterable[str]:
    if word[0] >= _UNSPACED:
        return {word[at : at + 2] for at in range(max(1, len(word) - 1))}
    return (_ENDING.sub("", word)[:_STEM],) if len(word) >= _SHORTEST else ()


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement, as the literals and content words that its source must contain."""

    tokens: frozenset[Literal]
    content: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "CitedStatement":
        return cls(literals_in(text), content_of(text))

    def share_in(self, content: frozenset[str]) -> float:
        """Return the share of its words that is in *content*."""
        return len(self.content & content) / len(self.content) if self.content else 0.0


class SourceTurn:
    """A text of a session, and its speaker's role."""

    def __init__(self, text: str, role: str = "") -> None:
        self.text = text
        self.role = role

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(_numbers(self.plain))

    @cached_property
    def words(self) -> str:
        """Its words alone, with one space around each."""
        return f" {' '.join(_WORD.findall(self.plain))} "

    @cached_property
    def content(self) -> frozenset[str]:
        return content_of(self.text)

    def has(self, token: Literal) -> bool:
        match token.kind:
            case "number":
                return token.text in self.numbers
            case "quote":
                return token.text in self.words
            case _:
                return token.text in self.plain and _bounded(token).search(self.plain) is not None

    def has_all_of(self, claim: CitedStatement) -> bool:
        return all(map(self.has, claim.tokens))

    def says(self, claim: CitedStatement) -> bool:
        """Return whether it contains all literals of *claim*, and most of its words."""
        return claim.share_in(self.content) >= MOST and self.has_all_of(claim)


class SourceIndex:
    """The shown segments of a session, by turn. A decision belongs to the turns that show it."""

    def __init__(self, summary_input: SummaryInput) -> None:
        segments: defaultdict[int, list[SourceTurn]] = defaultdict(list)
        for segment in summary_input.segments:
            if segment.turn:
                segments[segment.turn] += _by_author(segment.text, segment.role)
        for decision in summary_input.decisions:
            for turn in decision.turns:
                segments[turn] += _by_author(decision.description, _DECISION)
        self._segments = dict(segments)
        self.turns = {number: SourceTurn("\n".join(one.text for one in said)) for number, said in segments.items()}

    def segments(self, turns: Iterable[int] | None = None) -> Iterable[SourceTurn]:
        """Return the segments of *turns*, or of all turns."""
        return (segment for turn in (self._segments if turns is None else turns) for segment in self._segments[turn])

    def turns_saying(self, claim: CitedStatement) -> tuple[int, ...]:
        """Return the few turns that each support *claim* best; none if none does."""
        saying = [number for number, turn in self.turns.items() if turn.says(claim)]
        best = max((claim.share_in(self.turns[number].content) for number in saying), default=0.0)
        return tuple(sorted(n for n in saying if claim.share_in(self.turns[n].content) == best)[:_MOST_TURNS])


_LABEL = re.compile(r"\[[A-Z][\w-]*(?: of [^\]\n]{0,200})?\]\s")


def without_label(text: str) -> str:
    """Return the text of a segment without the label of its speaker."""
    return _LABEL.sub("", text, count=1)


def _by_author(text: str, role: str) -> Iterable[SourceTurn]:
    """Return a segment by authors: pages speak in what is pasted, and in what an agent tells."""
    if role == _DECISION:
        (own, other), author = _decided(without_label(text)), _AGENT
    elif role in _PERSONAL:
        (own, other), author = split(without_label(text)), BRIEF if is_brief(without_label(text)) else PASTED
    elif role in _AGENTS:
        (own, other), author = _reported(text), REPORTED
    else:
        return [SourceTurn(text, role)]
    return [SourceTurn(part, who) for part, who in ((own, role), (other, author)) if part]


_REPLY = re.compile(r'"="([^"]*)"|the user answered “([^”]*)”')
_REFUSED = re.compile(r"(?:Rejected|The user rejected) .*?(?:\)|“[^”]*”|plan): ", re.DOTALL)


def _decided(text: str) -> tuple[str, str]:
    """Return a person's own words of a decision, and those of the agent that asked for it."""
    replies = [found[1] or found[2] or "" for found in _REPLY.finditer(text)]
    if replies:
        return "\n".join(replies), _REPLY.sub(" ", text)
    if refused := _REFUSED.match(text):
        return text[refused.end() :], refused[0]
    return ("", text) if text.startswith("Rejected") else (text, "")


def _reported(text: str) -> tuple[str, str]:
    """Return an agent's own words, and what it tells of a document until it says "I"."""
    own: list[str] = []
    told: list[str] = []
    for paragraph in _PARAGRAPH.split(text):
        is_told = False
        for start, end in sentences(paragraph):
            said = paragraph[start:end]
            is_told = reports_on_document(said) or (is_told and not _FIRST_PERSON.match(said))
            (told if is_told else own).append(said)
    return "\n".join(own), "\n".join(told)


_AGENTS = frozenset({"Assistant", "Plan", "Summary", "Sub-agent", "Teammate", "Task"})
_OUTPUT_OF = re.compile(r"\[Output of ([^\]\n]+)\]")
_RANKS = {trust: rank for rank, trust in enumerate(Trust)}


def trust_of(claim: CitedStatement, segments: Iterable[SourceTurn], *, enough: float = MOST) -> Trust:
    """Return the trust in the most trusted speaker of *segments* who says *claim*.

    A person says it with *enough* of its words. If no speaker says it alone, a model has combined it: then it has the
    trust of the least trusted speaker among the nearest segments, and never that of the user.
    """
    heard = list(segments)
    speakers = [(speaker(one), claim.share_in(one.content), one.has_all_of(claim)) for one in heard]
    saying = [
        trust for trust, share, is_exact in speakers if is_exact and share >= (enough if trust is Trust.USER else MOST)
    ]
    if saying:
        return min(saying, key=_RANKS.__getitem__)
    most = max((share for _, share, _ in speakers), default=0.0)
    nearest = [Trust.ASSISTANT, *(trust for trust, share, _ in speakers if share == most > 0)]
    for token in (each for each in claim.tokens if each.kind != "number"):
        having = [speaker(one) for one in heard if one.has(token)]
        nearest += [min(having, key=_RANKS.__getitem__)] if having else []
    return max(nearest, key=_RANKS.__getitem__)


def speaker(segment: SourceTurn) -> Trust:
    """Return the trust in a segment's speaker; calls and failures come from programs."""
    if segment.role in _PERSONAL:
        return Trust.USER
    if segment.role in _AGENTS:
        return Trust.ASSISTANT
    named = _OUTPUT_OF.match(segment.text)
    return Trust.WEB if segment.role in {PASTED, BRIEF, REPORTED} or (named and named[1] in WEB_TOOLS) else Trust.TOOL
