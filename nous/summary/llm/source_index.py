"""Index a session's turns by speaker; find a text's numbers, paths, names and words in them.

Literals of a statement are numbers, paths, identifiers and quotes: no paraphrase changes them. They are compared in one
normal form: NFKC, casefolded, with one kind of quote, apostrophe, hyphen and space, and without the marks of code and
emphasis. `9,017` is 9017 and `v1.20` is 1.20; a number is separate from its unit. Of a date in ISO 8601, year and day
count: its month may be written as a word.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import NamedTuple

from nous.domain.episode import Trust
from nous.domain.summary_input import SummaryInput
from nous.text.injection import reports_on_document
from nous.text.language import words
from nous.text.pasted import is_brief, split
from nous.text.sentences import Span, sentences
from nous.transcript.model import WEB_TOOLS

_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff`")
)

_SCRIPT_ENDS = re.compile(r"(?<=[\u2e80-\uffff])(?=[\w`~/])(?![\u2e80-\uffff])|(?<=[\x21-\x7e])(?=[\u2e80-\uffff])")
_ISO = re.compile(r"(?<![\w-])(\d{4})-\d\d-(\d\d)(?=t\d|(?![\w-]))")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[,_']\d{3})+(?!\d|[,_']\d)")
_NUMBER = re.compile(r"(?<![^\W\d_])(?<!\d)(?<!\d\.)v?(\d+(?:\.\d+)*)(?!\d)(?=[^\W\d_]{0,12}(?!\w))")
_TURNS = re.compile(r"\bturns? #?\d+(?:(?:,? (?:and|to|or|&)|,| ?-) ?#?\d+)*(?!\w|\.\d)", re.IGNORECASE)
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}")  # `v20.11.1` is Node 20, but 3.5 is not 3
_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")
_NO_LETTER = re.compile(r"[\W_]+")

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
_ANCHORED = re.compile(r"[/~]|\.{1,2}/")  # such a path is no end of a longer one
_VERSION_OF = re.compile(r"v\d+", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_CLOSING = ".,;:!?)]}'"
_ELISION = re.compile(r"\s*(?:\.\.\.|\u2026|<[\w -]+>)\s*")


class Literal(NamedTuple):
    """Literal in its normal form, and its kind, which decides how it is compared."""

    kind: str
    text: str


def plain(text: str) -> str:
    form = _spaced(unicodedata.normalize("NFKC", text)).translate(_PLAIN)
    return " ".join(
        _GROUPED.sub(lambda number: re.sub(r"\D", "", number[0]), form.casefold().replace("**", "")).split()
    )


def _spaced(text: str) -> str:
    """Return *text* with spaces between ASCII words and scripts that have no spaces."""
    return text if text.isascii() else _SCRIPT_ENDS.sub(" ", text)


def literals_in(text: str) -> frozenset[Literal]:
    """Return the literals that a source of *text* must contain; turn numbers are not among them."""
    found: set[Literal] = set()
    rest = _TURNS.sub(" ", _spaced(unicodedata.normalize("NFKC", text)))
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
        before = r"(?<![\w./~-])" if _ANCHORED.match(token.text) else r"(?<![\w.-])"
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


_DECISION = "Decision"
_OMITS = "[..."  # begins a mark of what an excerpt leaves out, which says nothing of the session
# Roles of what others have said:
BRIEF = "Brief"  # a long message without any mark of a page: it counts as one, but also for the session's topic
PASTED = "Pasted"  # by a person: anyone may have written it, as with a page
REPORTED = "Reported"  # by an agent that tells of a page or a file
_AGENT = "Assistant"
_FIRST_PERSON = re.compile(r"\W*(?:I|we)\b", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
TYPED = "User"
_PERSONAL = frozenset({TYPED, _DECISION})
_STEMMED = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s|e|'s)\Z")
_STEM, _SHORTEST = 6, 3
_LONGEST_WORD = 20  # characters to look at for one word beside a literal
_UNSPACED = "\u2e80"  # scripts from here on have no spaces between words: character pairs stand for words
_SPEAKERS = frozenset({"user", "assistant", "agent"})


def content_of(text: str) -> frozenset[str]:
    empty = words().sets["stopwords"] | _SPEAKERS
    found = (word for word in _STEMMED.findall(plain(text)) if word not in empty)
    return frozenset(stem for word in found for stem in _stems(word))


def _stems(word: str) -> Iterable[str]:
    if word[0] >= _UNSPACED:
        return {word[at : at + 2] for at in range(max(1, len(word) - 1))}
    stem = _ENDING.sub("", word)[:_STEM]
    return (f"{stem[:-1]}i" if stem[-1] == "y" else stem,) if len(word) >= _SHORTEST else ()


def stem_of(word: str) -> str:
    """Return the stem of a content word; empty for a function word."""
    return min(content_of(word), default="")


def squeezed(text: str) -> str:
    """Return the letters and digits of *text*, in their normal form: without spaces and markup."""
    return _NO_LETTER.sub("", plain(text))


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement, as the literals and content words that its source must contain."""

    tokens: frozenset[Literal]
    content: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "CitedStatement":
        return cls(literals_in(text), content_of(text))

    def share_in(self, content: frozenset[str]) -> float:
        return len(self.content & content) / len(self.content) if self.content else 0.0


class SourceTurn:
    def __init__(self, text: str, role: str = "") -> None:
        self.text = text
        self.role = role

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        found = _numbers(self.plain)
        return frozenset(found) | {each.partition(".")[0] for each in found if _VERSION.fullmatch(each)}

    @cached_property
    def words(self) -> str:
        """Its words alone, with one space around each."""
        return f" {' '.join(_WORD.findall(self.plain))} "

    @cached_property
    def content(self) -> frozenset[str]:
        return content_of(self.text)

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.text)

    @cached_property
    def sentences(self) -> Sequence["SourceTurn"]:
        return [SourceTurn(self.text[start:end], self.role) for start, end in sentences(self.text)]

    def around(self, quote: str) -> "SourceTurn":
        """Return the sentences that hold the squeezed *quote*, and one more on either side."""
        start = self.squeezed.find(quote)
        ends = list(accumulate(len(each.squeezed) for each in self.sentences))
        first, last = bisect_right(ends, start), bisect_left(ends, start + len(quote))
        return SourceTurn("\n".join(each.text for each in self.sentences[max(0, first - 1) : last + 2]))

    def around_literal(self, token: Literal, reach: int) -> Iterator[frozenset[str]]:
        """Yield the content words among *reach* words on either side of each occurrence of *token*."""
        for start, end in self._occurrences(token):
            before = _STEMMED.findall(self.plain[max(0, start - _LONGEST_WORD * reach) : start])[-reach:]
            after = _STEMMED.findall(self.plain[end : end + _LONGEST_WORD * reach])[:reach]
            yield content_of(" ".join((*before, *after)))

    def _occurrences(self, token: Literal) -> Iterator[Span]:
        if token.kind == "number":
            found = _NUMBER.finditer(self.plain)
            yield from (number.span(1) for number in found if _canonical(number[1]) == token.text)
        elif token.kind != "quote":
            yield from (each.span() for each in _bounded(token).finditer(self.plain))

    def has(self, token: Literal) -> bool:
        match token.kind:
            case "number":
                return token.text in self.numbers
            case "quote":
                return token.text in self.words
            case _ if token.text in self.plain and _bounded(token).search(self.plain):
                return True
            case "name" if "." in token.text:  # keys of nested JSON, one after another
                keys = r"[^\w{\[:]*[{\[:]\W*".join(map(re.escape, token.text.split(".")))
                return re.search(rf"(?<!\w){keys}(?!\w)", self.plain) is not None
            case _:
                return False

    def has_all_of(self, claim: CitedStatement) -> bool:
        return all(map(self.has, claim.tokens))


class SourceIndex:
    """The shown segments of a session, by turn. A decision belongs to the turns that show it."""

    def __init__(self, summary_input: SummaryInput) -> None:
        segments: defaultdict[int, list[SourceTurn]] = defaultdict(list)
        texts: defaultdict[int, list[str]] = defaultdict(list)
        shown = [(one.turn, one.text, one.role) for one in summary_input.segments if one.turn]
        decided = [(turn, one.description, _DECISION) for one in summary_input.decisions for turn in one.turns]
        for turn, text, role in chain(shown, decided):
            segments[turn] += _by_author(text, role)
            texts[turn].append(text)
        shown_beside = (one.text for one in summary_input.segments if not one.turn and not one.text.startswith(_OMITS))
        told = (one.description for one in summary_input.decisions if not one.turns)
        self._beside = "\n".join((summary_input.heading, *shown_beside, *told))
        self._decided = squeezed("\n".join(text for _, text, role in (*shown, *decided) if role == _DECISION))
        self._segments = dict(segments)
        self.turns = {turn: SourceTurn("\n".join(said)) for turn, said in texts.items()}

    def segments(self, turns: Iterable[int] | None = None) -> Iterable[SourceTurn]:
        return (segment for turn in (self._segments if turns is None else turns) for segment in self._segments[turn])

    def is_decided(self, quote: str) -> bool:
        """Return whether the squeezed *quote* stands in a decision of the user."""
        return quote in self._decided

    @cached_property
    def whole(self) -> SourceTurn:
        """All that is shown of the session: its turns, and what belongs to none."""
        return SourceTurn("\n".join((self._beside, *(said.text for said in self.turns.values()))))

    def lacks(self, statement: str) -> bool:
        """Return whether *statement* names a turn, number, path or name that is not in the session."""
        named = {int(number) for turns in _TURNS.findall(statement) for number in _DIGITS.findall(turns)}
        return not named <= self.turns.keys() or not self.whole.has_all_of(CitedStatement.of(statement))


_LABEL = re.compile(r"\A\[[A-Z][\w-]*(?: of [^\]\n]{0,200})?\]\s")


def without_label(text: str) -> str:
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
CALLS = "Tools"
_OUTPUT_OF = re.compile(r"\[Output of ([^\]\n]+)\]")


def speaker(segment: SourceTurn) -> Trust:
    """Return the trust in a segment's speaker; calls are the agent's, failures a program's."""
    if segment.role in _PERSONAL:
        return Trust.USER
    if segment.role in _AGENTS or segment.role == CALLS:
        return Trust.ASSISTANT
    named = _OUTPUT_OF.match(segment.text)
    return Trust.WEB if segment.role in {PASTED, BRIEF, REPORTED} or (named and named[1] in WEB_TOOLS) else Trust.TOOL
