"""Which of the user's words outlast the session they were said in, and mean something to who was not there."""

import re

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.lessons import dangles, name_in
from nous.summary.names import names_in

_QUOTED = re.compile(r"(?:decided: |rejected .*?: |approved the plan )“(?P<words>.+)”\Z", re.DOTALL)
_ON_WHAT = re.compile(r"The user rejected [^:]*\bthe (?:code|fix|changes?|plan)”?: ", re.IGNORECASE)
"""A verdict on what only those who were there know."""

_APPROVED = "The user approved"
_NAMELESS = re.compile(r"\bthe (?:file|function|script|method|class|page|comment|line)\b(?! \w+ed\b)", re.IGNORECASE)
_OF_CODE = re.compile(
    r"\bthe (?:\w+ )?(?:types?|fields?|names?|cases?|handlers?|checks?|logic|hooks?|errors?|messages?|values?)\b",
    re.IGNORECASE,
)
"""A part of code that only those who were there know, where none is named."""

_THIS = re.compile(r"\bthis (?:is|was|has|will|would|can|should|\w+n['\u2019]t)\b", re.IGNORECASE)
_DOES_IT = re.compile(r"\W*\w+ (?:it|them|this|that)\b", re.IGNORECASE)
_OPEN_END = re.compile(r"(?:\.{3}|…)\W*\Z")


def lasts(fact: CandidateFact) -> bool:
    """Whether *fact* holds beyond its session. Only what a user wants or chooses can be meant for the moment."""
    match fact.category:
        case Category.RULE:
            return outlasts(fact.text) and not _is_at_first(fact.text) and not words().opens("no_directive", fact.text)
        case Category.PREFERENCE:
            return outlasts(fact.text) and not words().says("for_once", fact.text)
        case Category.DECISION:
            quoted = _QUOTED.search(fact.text)
            said = quoted["words"] if quoted else ""
            is_bound = words().says("for_once", said) or _DOES_IT.match(said) or words().says("for_now", fact.text)
            is_title = fact.text.startswith(_APPROVED) and not any(names_in(said))
            is_bound = is_bound or is_title or (fact.text.startswith(_APPROVED) and words().opens("only_looks", said))
            is_bound = is_bound or (_OF_CODE.search(said) and name_in(said) is None)
            is_bound = is_bound or (fact.text.startswith("Asked") and words().says("of_one_task", fact.text))
            return not (is_bound or _ON_WHAT.match(fact.text)) and outlasts(said)
        case _:
            return True


def outlasts(text: str) -> bool:
    """Whether *text* is neither for now nor about what only those who were there know."""
    known = words()
    points = known.says("points_elsewhere", text) or dangles(text) or _THIS.search(text) or _OPEN_END.search(text)
    is_nameless = _NAMELESS.search(text) and name_in(text) is None
    return not (points or is_nameless or known.says("for_now", text))


def _is_at_first(text: str) -> bool:
    return words().says("at_first", text) and not words().says("each_time", text)
