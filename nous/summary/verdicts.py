"""What the user approved, rejected or answered when asked, as a sentence, and what it is about."""

import re
from typing import NamedTuple

from nous.language import words
from nous.summary.names import code_of
from nous.summary.statements import shortened

_QUOTE, _LONGEST_WHAT = 200, 80
_ANSWER = re.compile(r'"(?P<question>[^"]+)"="(?P<answer>[^"]+)"')
_DIRECTORIES = re.compile(r"/(?:[^/\s()]+/)+")
_REJECTED = re.compile(r"Rejected (?P<what>.*?): (?P<reason>.+)", re.DOTALL)
_DESCRIBED = re.compile(r'\w+\((?:desc|description)="(?P<told>[^"]+)".*', re.DOTALL)
_PLAN = re.compile(r"Approved the plan:\s*(?:Plan:\s*)?", re.IGNORECASE)
_FILE = re.compile(r"\w+\((?P<file>[^()=\"]+)\)")


class Verdict(NamedTuple):
    """What the user said to what was put to them."""

    text: str
    subject: str
    approves: bool = False


def verdict_in(told: str, title: str | None = None) -> Verdict | None:
    """The verdict that *told* holds, if it says more than yes or no; *title* names what it was given on."""
    text = " ".join(told.split())
    if answers := list(_ANSWER.finditer(text)):
        asked = "; ".join(f"Asked “{a['question']}”, the user answered “{a['answer']}”" for a in answers)
        return Verdict(asked, shortened(answers[0]["question"].rstrip("?"), _LONGEST_WHAT))
    if rejected := _REJECTED.match(text):
        return _rejection(_DIRECTORIES.sub("", rejected["what"]), shortened(rejected["reason"], _QUOTE), title)
    if plan := _PLAN.match(text):
        approved = shortened(text[plan.end() :], _QUOTE)
        return Verdict(f"The user approved the plan “{approved}”", code_of(approved, "user"), approves=True)
    return None


def _rejection(what: str, reason: str, title: str | None) -> Verdict | None:
    if not _instructs(reason):
        return None
    described, file = _DESCRIBED.match(what), _FILE.match(what)
    named = f"“{described['told']}”" if described else shortened(what, _LONGEST_WHAT)
    named = f"{title} as it was" if title else named
    return Verdict(f"The user rejected {named}: “{reason}”", file["file"] if file else code_of(reason, "user"))


def _instructs(reason: str) -> bool:
    """Whether the reason of a rejection says what to do; mere questions, news and names do not."""
    known = words()
    is_wish = known.opens("wish", reason) or known.opens("directive", reason) or known.says("instructs", reason)
    return is_wish and not known.opens("waits", reason)
