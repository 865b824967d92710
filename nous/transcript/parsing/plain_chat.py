"""Text heuristics for chats without metadata: failures, session names, tags."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_FAILURE = re.compile(r"(?:\w{0,80}Error|Traceback)\b", re.IGNORECASE)
_NAMES = ("session_id", "conversation_id", "thread_id", "id", "task_id")


def reports_failure(result: str) -> bool:
    """Return whether the *result* of a tool reports a failure.

    For formats without error flags.
    """
    return _FAILURE.match(result) is not None


def own_name(session: Mapping[str, Any]) -> str:
    """Return the name or id of a session; empty if it has none."""
    named = (session.get(key) for key in _NAMES)
    return next((str(own) for own in named if isinstance(own, str | int) and not isinstance(own, bool) and own), "")


def another_session(name: str) -> str:
    """Return the text of the entry that marks the start of another session."""
    return f"Another session begins: {name}" if name else "Another session begins"


_TAG = re.compile(r"<(/?)(think|tool_call|tool_response)>")


class Tagged(NamedTuple):
    """A piece of text and its tag; the tag is empty for text outside of tags."""

    tag: str
    text: str


def tagged(text: str) -> Iterator[Tagged]:
    """Yield the pieces of *text* in order, without blank ones.

    A tag that is never closed is part of the text. Thoughts may be closed without being opened: many prompts end in the
    opening tag.
    """
    found = list(_TAG.finditer(text)) if "</" in text else []
    last = {tag[2]: tag.start() for tag in found if tag[1]}
    begin = 0
    opened: re.Match[str] | None = None
    for tag in found:
        if opened is None and not tag[1] and last.get(tag[2], -1) > tag.start():
            yield from _piece("", text[begin : tag.start()])
            opened = tag
        elif tag[1] and (opened[2] == tag[2] if opened else tag[2] == "think"):
            yield from _piece(tag[2], text[opened.end() if opened else begin : tag.start()])
            begin, opened = tag.end(), None
    yield from _piece("", text[begin:])


def _piece(tag: str, text: str) -> Iterator[Tagged]:
    if text := text.strip():
        yield Tagged(tag, text)
