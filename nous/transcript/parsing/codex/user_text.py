"""Whose words the pieces of a message are: Codex puts its context, and what other programs say, in the user's place."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_text


class Sort(StrEnum):
    """What a piece of a message is. `OWN` is what its author wrote."""

    OWN = "own"
    INSERTED = "inserted"
    IMAGE = "image"
    SHELL = "shell"
    ABORTED = "aborted"
    AGENT = "agent"
    ANSWERS = "answers"


class Piece(NamedTuple):
    """A piece, in words that can be shown; `result` is what came of a command of the user."""

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


def piece_of(text: str) -> Piece:
    """Take apart a text in the user's place. An editor puts files and selections before what the user asks for."""
    text = text.strip()
    if text.startswith(_PROJECT_RULES):
        return Piece(Sort.INSERTED, text)
    if text.startswith("# "):
        _, mark, request = text.partition(_REQUEST)
        text = request.strip() if mark else text
    if _IMAGE.fullmatch(text):
        return Piece(Sort.IMAGE, text)
    tag = _TAG.match(text)
    match _SORTS.get(tag[1].lower(), Sort.OWN) if tag else Sort.OWN:
        case Sort.SHELL:
            return Piece(Sort.SHELL, _inside(text, "command"), _inside(text, "result"))
        case Sort.AGENT:
            return Piece(Sort.AGENT, _notice(_inside(text, "subagent_notification")))
        case Sort.ANSWERS:
            return Piece(Sort.ANSWERS, _replies(_inside(text, "send_user_message_question_reply")))
        case Sort.INSERTED if rest := _behind(text, tag):
            return Piece(Sort.OWN, rest)
        case sort:
            return Piece(sort, text)


def _behind(text: str, tag: re.Match[str] | None) -> str:
    """What was typed behind an element that a program put first."""
    return text.rpartition(f"</{tag[1]}>")[2].strip() if tag and f"</{tag[1]}>" in text else ""


def without_citations(text: str) -> str:
    """*text* without the notes on which memories it draws on, which only one of its copies has."""
    return _split(text, *_SOURCE_OF_MEMORY)[0]


def plan_in(text: str) -> tuple[str, str]:
    """What a message says besides the plan that it proposes, and the plan."""
    return _split(text, *_PLAN)


def spoken(status: object) -> str:
    """What the status of an agent says: `{"completed": "its last words"}`, `{"errored": "why"}`, or a bare word."""
    if isinstance(status, str):
        return status
    said = [as_text(words) or str(name) for name, words in as_object(status).items()]
    return "; ".join(said)


def answers_in(value: object) -> str:
    """The answers to questions, each after what names its question."""
    found = as_object(as_object(value).get("answers"))
    return "; ".join(f"{question}: {_answer(answer)}" for question, answer in found.items())


def _answer(value: object) -> str:
    given = as_list(as_object(value).get("answers")) if isinstance(value, dict) else [value]
    return ", ".join(str(answer).removeprefix("user_note: ") for answer in given)


def _replies(text: str) -> str:
    found = as_list(as_arguments(text).get("arguments"))
    told = (as_text(as_object(reply).get("answer")) for reply in found)
    return "; ".join(filter(None, told)) or text


def _notice(text: str) -> str:
    notice: Mapping[str, Any] = as_arguments(text)
    name = as_text(notice.get("agent_path")) or as_text(notice.get("agent_id"))
    words = spoken(notice.get("status"))
    return f"{name}: {words}" if name and words else text


def _inside(text: str, tag: str) -> str:
    """What stands between the first opening and the last closing *tag*."""
    _, _, rest = text.partition(f"<{tag}>")
    inside, closing, _ = rest.rpartition(f"</{tag}>")
    return (inside if closing else rest).strip()


def _split(text: str, opening: str, closing: str) -> tuple[str, str]:
    """*text* without what stands between the marks, and that."""
    outside: list[str] = []
    inside: list[str] = []
    while True:
        before, mark, rest = text.partition(opening)
        outside.append(before)
        if not mark:
            return "".join(outside).strip(), "\n\n".join(inside).strip()
        within, _, text = rest.partition(closing)
        inside.append(within)
