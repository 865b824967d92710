"""Whose words stand in the place of a user's message: Gemini CLI and its kin put context, hooks and files there."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nous.transcript.model import Kind

_CONTEXT = ("<session_context>", "This is the Gemini CLI.", "This is the Qwen Code.")
_BY_A_PROGRAM = (*_CONTEXT, "System: Please continue.", "[System Notification")
_SNAPSHOT = "<state_snapshot>"
_HOOKS = ("hook_context", "qwen:user-prompt-submit-context")
_FILES = "--- Content from referenced files ---"
_SHELL = "I ran the following shell command:"
_STEERING = "User steering update:"
_BARE_COMMAND = re.compile(r"[/?][A-Za-z][\w:-]*")
_FOLDER = re.compile(
    r"(?:Workspace Directories:\*\*\s*- |working in the directory: |working in the following directories:\s*- )"
    r"(?P<folder>[^\n]+)"
)


class Part(NamedTuple):
    """A text in the user's place, and what it is: `USER` only for what a person typed.

    `META` is a program's, and without a kind it is nothing that anybody said.
    """

    kind: Kind | None
    text: str
    is_meta: bool = False


def parts_of_prompt(texts: Sequence[str]) -> Iterator[Part]:
    """What each of *texts* is. From where files are referenced, nothing more of the prompt is the user's."""
    for text in texts:
        words, files, _ = text.partition(_FILES)
        yield _part(words)
        if files:
            yield Part(None, "referenced files")
            return


def working_folder(text: str) -> str:
    """The first folder that a session's context names; nothing if *text* is none."""
    found = _FOLDER.search(text) if text.lstrip().startswith(_CONTEXT) else None
    return found["folder"].strip() if found else ""


def _part(text: str) -> Part:
    text = _without_hooks(text).strip()
    if text.startswith(_SNAPSHOT):
        return Part(Kind.SUMMARY, text)
    if text.startswith(_BY_A_PROGRAM):
        return Part(Kind.SYSTEM, text, is_meta=True)
    if text.startswith(_SHELL) and (command := _between(text, "```sh\n", "\n```")):
        return Part(Kind.USER, f"! {command}")
    if text.startswith(_STEERING) and (steering := _between(text, "<user_input>", "</user_input>")):
        return Part(Kind.USER, steering)
    return Part(Kind.SYSTEM if _BARE_COMMAND.fullmatch(text) else Kind.USER, text)


def _between(text: str, begin: str, end: str) -> str:
    return text.partition(begin)[2].partition(end)[0].strip()


def _without_hooks(text: str) -> str:
    for tag in _HOOKS:
        begin, end = f"<{tag}>", f"</{tag}>"
        if begin in text and end in text:
            first, *others = text.split(begin)
            text = first + "".join(other.partition(end)[2] for other in others)
    return text
