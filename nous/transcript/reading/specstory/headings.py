"""The lines that part an export into messages, and those that introduce it."""

import re
from datetime import datetime
from typing import NamedTuple

from nous.transcript.reading.timestamps import parse_time

_HEADING = re.compile(r"_\*\*(?P<who>User|Agent|Assistant|)(?P<mark> - sidechain)?(?: \((?P<about>.*)\))?\*\*_\s*")
_TIME = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?"
_ABOUT = re.compile(rf"(?P<model>.*?)\s*(?P<time>{_TIME})?")
_SESSION = re.compile(r"<!--\s*(?P<agent>\S.{0,80}?) Session (?P<id>\S+)\s+\([^)]*\)\s*-->")
_TITLE = re.compile(rf"#{{1,2}} +(?:{_TIME}\s*$|SpecStory\s*$|(?P<title>\S.*?)(?: \(\d[^()]*\))?\s*$)")
_MESSAGE = re.compile(r"<!--\s*message-id:\s*(?P<id>\S+)\s*-->\s*")
_SIDECHAIN = "sidechain"
_FORMER = frozenset({"Assistant", ""})
_LONGEST = 400


class Heading(NamedTuple):
    """Who speaks from here on; with which model and when, where it says so. Former versions said `Assistant`."""

    is_user: bool
    is_former: bool
    is_sidechain: bool
    model: str
    time: datetime | None


class About(NamedTuple):
    """What a line before the first message says of the session."""

    agent: str = ""
    session_id: str = ""
    title: str = ""


def heading_in(text: str) -> Heading | None:
    """The heading that the line *text* is. One that names nobody goes on with what the agent says."""
    found = _HEADING.fullmatch(text) if text.startswith("_**") and len(text) <= _LONGEST else None
    if found is None:
        return None
    about = found["about"] or ""
    rest = about.removesuffix(_SIDECHAIN).removesuffix(") (")
    told = _ABOUT.fullmatch(rest)
    return Heading(
        is_user=found["who"] == "User",
        is_former=found["who"] in _FORMER,
        is_sidechain=bool(found["mark"]) or rest != about,
        model=told["model"] if told else "",
        time=parse_time(told["time"]) if told else None,
    )


def about_in(text: str) -> About | None:
    """What the line *text* says of the session, if it does."""
    if len(text) > _LONGEST:
        return None
    if found := _SESSION.match(text):
        return About(agent=found["agent"], session_id=found["id"])
    if found := _TITLE.match(text):
        return About(title=found["title"] or "")
    return None


def message_id_in(text: str) -> str:
    """The id of the message that the line *text* gives below its heading."""
    found = _MESSAGE.fullmatch(text[:_LONGEST])
    return found["id"] if found else ""
