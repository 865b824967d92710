"""Which statements teach something: a cause, a rule that holds, a choice with its reason. Events and guesses do not."""

import re
from collections.abc import Sequence

from nous.language import words
from nous.secrets import looks_secret
from nous.summary.statements import Statement
from nous.transcript.model import Kind

MOST = 7
SHORTEST, LONGEST = 40, 320
_ENOUGH = 2.0
_LIKE = 0.5
"""How much of their words two statements share, at least, to say the same (Jaccard)."""

_WORTH = {"cause": 2.0, "constraint": 1.5, "decision": 1.5}
_IDENTIFIER = re.compile(
    r"`[^`]+`|\b\w+_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b\w+\(\)|\b\w+\.\w{1,5}\b|--\w[\w-]+|\b\d[\d.,:%]*\w*"
)
_FIRST_PERSON = re.compile(r"^\W*(?:I|We|I['\u2019]\w+|We['\u2019]\w+)\b(?! (?:must|never|always|only|cannot|can't))")
_BEGINS_AS_EVENT = re.compile(
    r"^\W*(?:Add|Fix|Remov|Updat|Creat|Chang|Replac|Renam|Mov|Implement|Refactor|Committ|Push|Writ|Extract|Convert|Delet)"
    r"(?:e?d?|ing|es|te[dn]|wrote)\b",
)
_OTHER_PERSON = re.compile(r"\b(?:I['\u2019]ll|I need|you|your|yours|you['\u2019]\w+)\b", re.IGNORECASE)
_TRAILING = re.compile(r"[:,;(]$|\.\.\.$|…$")
_TIES = "So|And|But|Also|However|Then|Plus|Note that|Note|Ah|Oh|Alright|Okay|Ok|Well|Yes|No|Right|Sure|Actually"
_TIE = re.compile(rf"^(?:\W*\b(?:{_TIES})\b)+[,.!:]? +(?=\S)", re.IGNORECASE)
_WORD = re.compile(r"\w[\w./-]+\w")


def lessons(said: Sequence[Statement], most: int = MOST) -> list[Statement]:
    """The *most* telling lessons of a session, in the order they were said, none twice."""
    ranked = sorted((one for one in said if is_lesson(one)), key=lambda one: -worth(one))
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
        and is_durable(one)
        and not _FIRST_PERSON.match(one.text)
        and worth(one) >= _ENOUGH
    )


def is_durable(one: Statement) -> bool:
    """Whether a statement would still mean something to a reader who was not there."""
    text, known = one.text, words()
    if not SHORTEST <= len(text) <= LONGEST or one.is_question or one.is_quoted or one.is_heading:
        return False
    if known.opens("narrates", text) or begins_as_event(text) or _OTHER_PERSON.search(text):
        return False
    is_vague = known.says("hedge", text) or known.says("asks", text) or known.opens("needs_context", text)
    return not (is_vague or _TRAILING.search(text) or looks_secret(text))


def worth(one: Statement) -> float:
    """How much a statement teaches: the kinds of lesson it has the words of, and the names it names."""
    teaches = sum(value for name, value in _WORTH.items() if words().says(name, one.text))
    names = min(3, len(_IDENTIFIER.findall(one.text)))
    return teaches + 0.5 * names if teaches else 0.0


def standing_alone(text: str) -> str:
    """*text* without the word that ties it to what was said before."""
    bare = _TIE.sub("", text)
    return bare[:1].upper() + bare[1:]


def name_in(text: str) -> str | None:
    """The first name in code, file, option or, failing those, number that *text* has."""
    found = [name.strip("`") for name in _IDENTIFIER.findall(text)]
    return next((name for name in found if not name[0].isdigit()), found[0] if found else None)


def begins_as_event(text: str) -> bool:
    """Whether *text* begins with what somebody did, as in "Added a test"."""
    return _BEGINS_AS_EVENT.match(text) is not None


def alike(one: str, other: str) -> bool:
    """Whether two statements say much the same, by the words they share."""
    first, second = _words(one), _words(other)
    return bool(first and second) and len(first & second) / len(first | second) >= _LIKE


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - words().sets["stopwords"]
