"""Classifier for the pieces of a Codex user message.

Codex puts its own context, and output of other programs, into user messages.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from nous.transcript.parsing.fields import text_at
from nous.transcript.parsing.values import as_arguments, as_object, as_text


class Sort(StrEnum):
    """Type of a piece of a message; `OWN` is text by its author."""

    OWN = "own"
    INSERTED = "inserted"
    IMAGE = "image"
    SHELL = "shell"
    ABORTED = "aborted"
    AGENT = "agent"


class MessagePiece(NamedTuple):
    """A piece in displayable words; `result` is the output of a command of the user."""

    sort: Sort
    text: str
    result: str = ""


_TAG = re.compile(r"<([A-Za-z_]+)[\s>]")
_IMAGE = re.compile(r"</?image\b[^<>]*>")
_INSERTED = (
    *("environment_context", "user_instructions", "instructions", "skill", "user_action", "permissions", "hook_prompt"),
    *("collaboration_mode", "apps_instructions", "plugins_instructions", "skills_instructions", "personality_spec"),
    *("model_switch", "goal_context", "recommended_plugins", "codex_internal_context", "token_budget"),
)
_SORTS = {
    **dict.fromkeys(_INSERTED, Sort.INSERTED),
    "user_shell_command": Sort.SHELL,
    "turn_aborted": Sort.ABORTED,
    "subagent_notification": Sort.AGENT,
}
_PROJECT_RULES = "# AGENTS.md instructions for "
_REQUEST = "## My request for Codex:"


def piece_of(text: str) -> MessagePiece:
    """Classify a text of a user message.

    An editor puts files and selections before the user's request; only the request is kept.
    """
    text = text.strip()
    if text.startswith(_PROJECT_RULES):
        return MessagePiece(Sort.INSERTED, text)
    if text.startswith("# "):
        _, mark, request = text.partition(_REQUEST)
        text = request.strip() if mark else text
    if _IMAGE.fullmatch(text):
        return MessagePiece(Sort.IMAGE, text)
    tag = _TAG.match(text)
    match _SORTS.get(tag[1].lower(), Sort.OWN) if tag else Sort.OWN:
        case Sort.SHELL:
            return MessagePiece(Sort.SHELL, _inside(text, "command"), _inside(text, "result"))
        case Sort.AGENT:
            return MessagePiece(Sort.AGENT, _notice(_inside(text, "subagent_notification")))
        case Sort.INSERTED if tag and (closing := f"</{tag[1]}>") in text and not text.endswith(closing):
            return MessagePiece(Sort.OWN, text.rpartition(closing)[2].strip())  # typed behind what a program put first
        case sort:
            return MessagePiece(sort, text)


def words_and_plan(text: str) -> tuple[str, str]:
    """Return an answer without its proposed plan and without memory citations, and the plan."""
    without_citations, _ = _split(text, "<oai-mem-citation>", "</oai-mem-citation>")
    return _split(without_citations, "<proposed_plan>", "</proposed_plan>")


def spoken(status: object) -> str:
    """Return the words of an agent's status.

    Its forms are `{"completed": "last words"}`, `{"errored": "reason"}` and a bare word.
    """
    if isinstance(status, str):
        return status
    return "; ".join(as_text(words) or str(name) for name, words in as_object(status).items())


def _notice(text: str) -> str:
    notice = as_arguments(text)
    name, words = text_at(notice, "agent_path", "agent_id"), spoken(notice.get("status"))
    return f"{name}: {words}" if name and words else text


def _inside(text: str, tag: str) -> str:
    """Return the text between the first opening and the last closing *tag*."""
    rest = text.partition(f"<{tag}>")[2]
    inside, closing, _ = rest.rpartition(f"</{tag}>")
    return (inside if closing else rest).strip()


def _split(text: str, opening: str, closing: str) -> tuple[str, str]:
    """Split *text* into the parts outside of the tags and the parts inside."""
    first, *others = text.split(opening)
    parts = [other.partition(closing) for other in others]
    outside = first + "".join(after for _, _, after in parts)
    return outside.strip(), "\n\n".join(inside for inside, _, _ in parts).strip()
