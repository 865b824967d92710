"""Which statements teach something: a cause, a rule that holds, a choice with its reason. Events and guesses do not."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from nous.language import words
from nous.secrets import looks_secret
from nous.summary.statements import Statement, terms
from nous.transcript.model import Kind

MOST = 7
SHORTEST, SHORTEST_OF_USER, LONGEST = 40, 12, 320
_ENOUGH = 2.0
_LIKE = 0.5
"""How much of their words two statements share, at least, to say the same (Jaccard)."""

_EXPLAINS = 2.0
_WORTH = {"cause": 2.0, "constraint": 1.5, "decision": 1.5}
_IDENTIFIER = re.compile(
    r"`[^`]+`|\b\w+_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b\w+\(\)|\b\w+\.\w{1,5}\b|--\w[\w-]+|\b\d[\d.,:%]*\w*"
)
_FIRST_PERSON = re.compile(r"^\W*(?:We|We['\u2019]\w+)\b(?! (?:must|never|always|only|cannot|can't))|\bI\b(?!`)")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b[Ll]ines? \d+")
"""The name of one commit, session or object, or a line of a file: what is said of it holds for that one, or for now."""

_AT_LINE = re.compile(
    r"(\.(?:py|ts|tsx|js|jsx|go|rs|java|kt|rb|c|h|cc|cpp|cs|php|swift|md|toml|ya?ml|json|sql|css|html))"
    r":\d+(?:[-:\u2013]\d+)?(?![\d.])"
)
"""A place in a file, which the next change moves."""
_BEGINS_AS_EVENT = re.compile(
    r"^\W*(?:Add|Fix|Remov|Updat|Creat|Chang|Replac|Renam|Mov|Implement|Refactor|Committ|Push|Writ|Extract|Convert|Delet)"
    r"(?:e?d?|ing|es|te[dn]|wrote)\b"
    r"|^\d+ (?:\w+ ){1,5}(?:updated|added|changed|removed|fixed|renamed)\b",
)
_OTHER_PERSON = re.compile(r"\b(?:I['\u2019]ll|I need|you|your|yours|you['\u2019]\w+)\b", re.IGNORECASE)
_TRAILING = re.compile(r"[:,;(]$|\.\.\.$|…$")
_ENDS_ELSEWHERE = re.compile(r"\b(?:it|this|that|them|these|those|there|so)\b[.!)]*$", re.IGNORECASE)
"""Ends with a word for something that only those who were there know."""

_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|it['\u2019]s|they['\u2019]re)\b", re.IGNORECASE)
_WAS = re.compile(r"^The (?:\w+ )?(?:issue|problem|bug|culprit) was that (?=\S)")
"""Stands before what was wrong, which says it without that."""

_OF_A_NAME = re.compile(r"^(`[^`]+`) *(?:[-\u2013\u2014:] *)?[Nn]ow (?=[a-z]+s\b)")
_TIES = (
    "So|And|But|Also|However|Then|Therefore|Thus|Plus|Note that|Note|Ah|Oh|Alright|Okay|Ok|Well|Yes|Right|Sure"
    "|Actually|Certainly|Of course|Unfortunately|Understood|Noted|Got it|Please|In that case"
    "|For the record|FYI|By the way|Btw|Just so you know|Sorry, I was wrong|I was wrong|My mistake|Remember(?=:)"
    "|(?:Great|Perfect|Nice|Cool|Awesome|Thanks|Thank you|Hi|Hello|Hey|Sorry|Oops|Wait|No wait)(?=[,.!])"
    r"|(?:The|This|That) (?:\w+ ){0,3}(?:is|are|was) (?:not |in)(?:correct|right|true)(?=[,.:;])"
    "|According to (?:our|the) polic(?:y|ies)|Additionally|In addition|I['\u2019]m sorry|I apologi[sz]e"
)
_THOUGH = re.compile(r",? (?:though|tho)(?=[.!]?\Z)")
_TIE = re.compile(rf"^(?:\W*\b(?:(?:{_TIES})\b|No(?=[,.!:])))+[,.!:]? +(?=\S)", re.IGNORECASE)
"""The word that ties a sentence to what was said before. A "no" without a comma belongs to what it denies."""

_WORD = re.compile(r"\w[\w./-]+\w")
_TOKEN = re.compile(r"[\w'\u2019]+")
_EXACT = re.compile(
    r"`[^`]+`|[\w.~-]*/[\w./-]*\w|-?\w*\d(?:[\w.,:-]*\w)?%?|\w+\.\w+|\w*_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*"
)
"""Numbers, versions, paths and names: where one differs, something else is said."""

_COMPARED = 1_000
"""Characters of a statement that are compared; those that anybody keeps are shorter."""


def lessons(said: Sequence[Statement], most: int = MOST) -> list[Statement]:
    """The *most* telling lessons of a session, in the order they were said, none twice."""
    ranked = sorted(filter(is_lesson, said), key=lambda one: -worth(one))
    kept: list[Statement] = []
    for one in ranked:
        if len(kept) < most and not any(alike(one.text, other.text) for other in kept):
            kept.append(one)
    places = {id(one): place for place, one in enumerate(said)}
    return sorted(kept, key=lambda one: places[id(one)])


def is_lesson(one: Statement) -> bool:
    """Whether a statement stands alone, is no event, guess or question, and teaches enough."""
    return (
        one.speaker is Kind.ASSISTANT
        and worth(one) >= _ENOUGH
        and is_durable(one)
        and not _FIRST_PERSON.search(one.text)
        and not _HASH.search(one.text)
        and not words().says("approves", one.text)
    )


def is_durable(one: Statement) -> bool:
    """Whether a statement would still mean something to a reader who was not there."""
    text, known = one.text, words()
    if not SHORTEST <= len(text) <= LONGEST or one.is_question or one.is_quoted or one.is_heading:
        return False
    if known.opens("narrates", text) or begins_as_event(text) or _OTHER_PERSON.search(text):
        return False
    is_vague = any(known.says(name, text) for name in ("hedge", "asks", "about_to"))
    is_cut = text.count("(") != text.count(")")
    return not (is_vague or is_cut or is_bound(text) or _TRAILING.search(text) or looks_secret(text))


def is_bound(text: str) -> bool:
    """Whether *text* points at what stood beside it, so that it says little to who was not there."""
    known = words()
    points = known.opens("needs_context", text) or known.says("points_elsewhere", text)
    return points or dangles(text) or _ENDS_ELSEWHERE.search(text) is not None


def dangles(text: str) -> bool:
    """Whether *text* says "it" or "they" before it has named anything that this could be."""
    found = _PRONOUN.search(text)
    return found is not None and not terms(text[: found.start()])


def worth(one: Statement) -> float:
    """How much a statement teaches: the kinds of lesson it has the words of, and the names it names."""
    teaches = sum(value for name, value in _WORTH.items() if words().says(name, one.text))
    teaches = max(teaches, _EXPLAINS) if words().opens("explains", one.text) else teaches
    names = min(3, len(_IDENTIFIER.findall(one.text)))
    return teaches + 0.5 * names if teaches else 0.0


def standing_alone(text: str) -> str:
    """*text* without its label, the word that ties it to what was said before, and the lines of the files it names."""
    bare = _WAS.sub("", _OF_A_NAME.sub(r"\1 ", _TIE.sub("", _AT_LINE.sub(r"\1", _THOUGH.sub("", text)))))
    label, colon, rest = bare.partition(": ")
    bare = rest if colon and label.lower() in words().sets["labels"] else bare
    return bare[:1].upper() + bare[1:]


def name_in(text: str) -> str | None:
    """The first name in code, file, option or, failing those, number that *text* has."""
    found = [name.strip("`") for name in _IDENTIFIER.findall(text)]
    return next((name for name in found if not name[0].isdigit()), found[0] if found else None)


def begins_as_event(text: str) -> bool:
    """Whether *text* begins with what somebody did, as in "Added a test"."""
    return _BEGINS_AS_EVENT.match(text) is not None


class _Said(NamedTuple):
    """What two statements are compared by: their words, what must be the same in both, and how often they deny."""

    words: frozenset[str]
    exact: frozenset[str]
    denials: int


def alike(one: str, other: str) -> bool:
    """Whether two statements say much the same, by the words they share.

    Never where they differ in a number, a version, a path, a name, a word that turns the sense round, or a denial.
    """
    first, second = _said(one), _said(other)
    if not (first.words and second.words) or first[1:] != second[1:]:
        return False
    return len(first.words & second.words) / len(first.words | second.words) >= _LIKE


@lru_cache(maxsize=8192)
def _said(text: str) -> _Said:
    """Remembered, because every statement is compared with many."""
    known, text = words(), text[:_COMPARED]
    tokens = [token.replace("\u2019", "'") for token in _TOKEN.findall(text.lower())]
    counted = frozenset(tokens) & (known.sets["turning"] | known.sets["counts"])
    return _Said(
        words=frozenset(_WORD.findall(text.lower())) - known.sets["stopwords"],
        exact=counted | {found.rstrip(".,:;-").strip("`").replace(",", "") for found in _EXACT.findall(text)},
        denials=sum(token in known.sets["denials"] or token.endswith("n't") for token in tokens),
    )
