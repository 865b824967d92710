"""Classifier for the pieces of a Codex user message.

Codex puts its own context, and output of other programs, into user messages.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_text


class Sort(StrEnum):
    """Type of a piece of a message; `OWN` is text by its author."""

    OWN = "own"
    INSERTED = "inserted"
    IMAGE = "image"
    SHELL = "shell"
    ABORTED = "aborted"
    AGENT = "agent"
    ANSWERS = "answers"


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
    "send_user_message_question_reply": Sort.ANSWERS,
}
_PROJECT_RULES = "# AGENTS.md instructions for "
_REQUEST = "## My request for Codex:"
_SOURCE_OF_MEMORY = ("<oai-mem-citation>", "</oai-mem-citation>")
_PLAN = ("<proposed_plan>", "</proposed_plan>")


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
        case Sort.ANSWERS:
            return MessagePiece(Sort.ANSWERS, _replies(_inside(text, "send_user_message_question_reply")))
        case Sort.INSERTED if rest := _behind(text, tag):
            return MessagePiece(Sort.OWN, rest)
        case sort:
            return MessagePiece(sort, text)


def _behind(text: str, tag: re.Match[str] | None) -> str:
    """Return the text typed after an element that a program put first."""
    return text.rpartition(f"</{tag[1]}>")[2].strip() if tag and f"</{tag[1]}>" in text else ""


def without_citations(text: str) -> str:
    """Return *text* without memory citations, which only one of its copies has."""
    return _split(text, *_SOURCE_OF_MEMORY)[0]


def plan_in(text: str) -> tuple[str, str]:
    """Return a message without its proposed plan, and the plan."""
    return _split(text, *_PLAN)


def spoken(status: object) -> str:
    """Return the words of an agent's status.

    Its forms are `{"completed": "last words"}`, `{"errored": "reason"}` and a bare word.
    """
    if isinstance(status, str):
        return status
    said = [as_text(words) or str(name) for name, words in as_object(status).items()]
    return "; ".join(said)


def answers_in(value: object) -> str:
    """Return the answers to questions, each after the name of its question."""
    found = as_object(as_object(value).get("answers"))
    return "; ".join(f"{question}: {_answer(answer)}" for question, answer in found.items())


def _answer(value: object) -> str:
    given = as_list(as_object(value).get("answers")) if isinstance(value, dict) else [value]
    return ", ".join(str(answer).removeprefix("user_note: ") for answer in given)


def _replies(text: str) -> str:
    found = as_list(as_arguments(text).get("arguments"))
    answers = (as_text(as_object(reply).get("answer")) for reply in found)
    return "; ".join(filter(None, answers)) or text


def _notice(text: str) -> str:
    notice: Mapping[str, Any] = as_arguments(text)
    name = as_text(notice.get("agent_path")) or as_text(notice.get("agent_id"))
    words = spoken(notice.get("status"))
    return f"{name}: {words}" if name and words else text


def _inside(text: str, tag: str) -> str:
    """Return the text between the first opening and the last closing *tag*."""
    _, _, rest = text.partition(f"<{tag}>")
    inside, closing, _ = rest.rpartition(f"</{tag}>")
    return (inside if closing else rest).strip()


def _split(text: str, opening: str, closing: str) -> tuple[str, str]:
    """Split *text* into the parts outside of the tags and the parts inside."""
    outside: list[str] = []
    inside: list[str] = []
    while True:
        before, mark, rest = text.partition(opening)
        outside.append(before)
        if not mark:
            return "".join(outside).strip(), "\n\n".join(inside).strip()
        within, _, text = rest.partition(closing)
        inside.append(within)
