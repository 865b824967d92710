"""Text in which a model's thoughts and calls stand between tags, as models without an API of their own write them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_TAG = re.compile(r"<(/?)(think|tool_call|tool_response)>")


class Tagged(NamedTuple):
    """A piece of text, and the tag around it; no tag if it stands for itself."""

    tag: str
    text: str


def tagged(text: str) -> Iterator[Tagged]:
    """The pieces of *text*, in order, the blank ones left out.

    A tag that is never closed is part of the text. Thoughts may be closed without being opened: many prompts end in
    the opening tag.
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
