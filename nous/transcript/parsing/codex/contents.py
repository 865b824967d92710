"""Classify Codex user texts, split plans off answers, and parse tool outputs and outcomes."""

import re
from typing import Any, NamedTuple

from nous.transcript.parsing.chat import blocks_in, is_text, text_of
from nous.transcript.parsing.fields import JsonObject, count_at, marks, object_at, text_at
from nous.transcript.parsing.values import as_count, as_list, as_object, as_shown, as_text, parsed

SHELL, ABORTED, AGENT, IMAGE = "user_shell_command", "turn_aborted", "subagent_notification", "image"


class Piece(NamedTuple):
    """A piece of a message: the tag that a program put around it, and displayable words.

    The author's own words have no tag. `result` is the output of a command of the user.
    """

    tag: str
    text: str
    result: str = ""


_TAG = re.compile(r"<([A-Za-z_]+)[\s>]")
_IMAGE = re.compile(r"</?image\b[^<>]*>")
_TAGS = frozenset({*marks("codex", "inserted_tags"), SHELL, ABORTED, AGENT})
_PROJECT_RULES = "# AGENTS.md instructions for "
_REQUEST = "## My request for Codex:"


def piece_of(text: str) -> Piece:
    """Classify a text of a user message; without what an editor puts before the request."""
    text = text.strip()
    if text.startswith(_PROJECT_RULES):
        return Piece(_PROJECT_RULES, text)
    if text.startswith("# "):
        _, mark, request = text.partition(_REQUEST)
        text = request.strip() if mark else text
    if _IMAGE.fullmatch(text):
        return Piece(IMAGE, text)
    opening = _TAG.match(text)
    tag = opening[1].lower() if opening else ""
    if opening is None or tag not in _TAGS:
        return Piece("", text)
    if tag == SHELL:
        return Piece(tag, _inside(text, "command"), _inside(text, "result"))
    if tag == AGENT:
        return Piece(tag, _inside(text, AGENT))
    if tag != ABORTED and (closing := f"</{opening[1]}>") in text and not text.endswith(closing):
        return Piece("", text.rpartition(closing)[2].strip())  # typed behind what a program put first
    return Piece(tag, text)


def words_and_plan(text: str) -> tuple[str, str]:
    """Return an answer without its proposed plan and without memory citations, and the plan."""
    without_citations, _ = _split(text, "<oai-mem-citation>", "</oai-mem-citation>")
    return _split(without_citations, "<proposed_plan>", "</proposed_plan>")


def _inside(text: str, tag: str) -> str:
    rest = text.partition(f"<{tag}>")[2]
    inside, closing, _ = rest.rpartition(f"</{tag}>")
    return (inside if closing else rest).strip()


def _split(text: str, opening: str, closing: str) -> tuple[str, str]:
    """Split *text* into the parts outside of the tags and the parts inside."""
    first, *others = text.split(opening)
    parts = [other.partition(closing) for other in others]
    outside = first + "".join(after for _, _, after in parts)
    return outside.strip(), "\n\n".join(inside for inside, _, _ in parts).strip()


_HEAD = 400
_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})", re.MULTILINE)
_HEADED = ("Exit code: ", "Chunk ID: ", "Wall time: ", "Process exited ", "Command: ", "Total output lines: ")
_OUTPUT = "\nOutput:"
_FAILED = marks("codex", "failed")
_REJECTED = marks("codex", "rejected")
_REJECTED_WITHIN = 'Rejected("rejected by user")'
_ABORTED = re.compile(r"(?:Wall time: [\d.]{1,20} seconds\n)?aborted(?: by user(?: after [\d.]{1,20}s)?)?", re.ASCII)


class Output(NamedTuple):
    """Output of a tool call, its outcome, and the types of parts that cannot be shown."""

    text: str = ""
    is_error: bool = False
    is_rejected: bool = False
    is_aborted: bool = False
    hidden: tuple[str, ...] = ()


def output_of(value: object) -> Output:
    """Parse a conversation's output: text, parts, JSON in a string, or an object of these."""
    if isinstance(value, str):
        return _from_string(value)
    if isinstance(value, list):
        return _from_parts(as_list(value))
    part = as_object(value)
    return _from_parts([part]) if "type" in part else _from_object(part)


def output_of_event(event: JsonObject) -> Output:
    """Parse the output in the event that ends a command or a patch."""
    streams = (text_at(event, "stdout").strip("\n"), text_at(event, "stderr").strip("\n"))
    text = text_at(event, "aggregated_output", "formatted_output") or "\n".join(filter(None, streams))
    status = text_at(event, "status")
    failed = count_at(event, "exit_code") != 0 or event.get("success") is False or status == "failed"
    return Output(text, is_error=failed, is_rejected=status == "declined")


def output_of_mcp(event: JsonObject) -> Output:
    """Parse the end of an MCP call: `{"Ok": result}`, `{"Err": reason}` or the bare result."""
    result = event.get("result")
    wrapped = as_object(result)
    if error := event.get("error") or wrapped.get("Err"):
        return _judged(as_text(as_object(error).get("message")) or as_shown(error), is_error=True)
    inside = object_at(wrapped, "Ok") or wrapped
    found = _from_parts(as_list(inside.get("content")))
    failed = inside.get("isError") is True or inside.get("is_error") is True or event.get("status") == "failed"
    return Output(found.text, is_error=failed, hidden=found.hidden)


def _from_string(text: str) -> Output:
    if text.startswith(('{"output"', '[{"')):
        value = parsed(text)
        if isinstance(value, dict):
            return _from_object(as_object(value))
        if isinstance(value, list) and all(is_text(as_object(part)) for part in as_list(value)):
            return _from_parts(as_list(value))
    return _judged(text)


def _from_parts(found: list[Any]) -> Output:
    parts = blocks_in(found)
    if ran := [output_of_event({**part, **object_at(part, "outcome")}) for part in parts if "outcome" in part]:
        return Output("\n\n".join(one.text for one in ran), is_error=any(one.is_error for one in ran))
    judged = _judged("\n\n".join(part["text"] for part in parts if is_text(part)))
    hidden = tuple(f"{part.get('type')} part" for part in parts if not is_text(part))
    return Output(judged.text, judged.is_error, judged.is_rejected, judged.is_aborted, hidden)


def _from_object(value: JsonObject) -> Output:
    if "stdout" in value or "stderr" in value:
        return output_of_event({**value, "exit_code": value.get("exitCode", value.get("exit_code"))})
    inside = next((value[key] for key in ("output", "content", "text") if key in value), value or None)
    code = as_count(object_at(value, "metadata").get("exit_code"))
    text = text_of(inside) if isinstance(inside, str | list) else as_shown(inside)
    if "exit_code" in object_at(value, "metadata") and code >= 0:
        return Output(text, is_error=code != 0)  # it ran, so its output is no rejection
    return _judged(text, is_error=code != 0 or value.get("success") is False)


def _judged(text: str, *, is_error: bool = False) -> Output:
    head = text[:_HEAD]
    if head.startswith(_REJECTED) or (head.startswith(_FAILED) and _REJECTED_WITHIN in text[-_HEAD:].replace("\\", "")):
        return Output(text, is_rejected=True)
    if _ABORTED.fullmatch(head.strip()):
        return Output(text, is_aborted=True)
    if head.startswith(_HEADED) and (code := _EXIT_CODE.search(head.partition(_OUTPUT)[0])):
        is_error = is_error or int(code[1]) != 0
    return Output(text, is_error=is_error or head.startswith(_FAILED))
