"""Parser for tool outputs in the forms that different Codex versions store."""

import re
from dataclasses import dataclass, field
from typing import Any

import orjson

from nous.transcript.parsing.blocks import blocks_in
from nous.transcript.parsing.fields import JsonObject, count_at, object_at, text_at
from nous.transcript.parsing.values import as_count, as_list, as_object, as_shown, as_text

_HEAD = 400
_EXIT_CODE = re.compile(r"^(?:Exit code: |Process exited with code )(-?\d{1,10})", re.MULTILINE)
_HEADED = ("Exit code: ", "Chunk ID: ", "Wall time: ", "Process exited ", "Command: ", "Total output lines: ")
_OUTPUT = "\nOutput:"
_FAILED = (
    *("exec_command failed", "apply_patch verification failed", "failed to parse function arguments", "Script failed"),
    *("unsupported call", "unsupported custom tool call", "command timed out", "failed in sandbox", "tool call error"),
    *("execution error", "write_stdin failed", "collab spawn failed", "This action was rejected due to"),
)
_REJECTED = (
    *("exec command rejected by user", "patch rejected by user", "rejected by user", "user rejected MCP tool call"),
    "user cancelled MCP tool call",
)
_REJECTED_WITHIN = 'Rejected("rejected by user")'
_ABORTED = re.compile(r"(?:Wall time: [\d.]{1,20} seconds\n)?aborted(?: by user(?: after [\d.]{1,20}s)?)?", re.ASCII)
_TEXTS = frozenset({"text", "input_text", "output_text", "inputText", "Text"})


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a tool call, its outcome, and the types of parts that cannot be shown."""

    text: str = ""
    is_error: bool = False
    is_rejected: bool = False
    is_aborted: bool = False
    hidden: tuple[str, ...] = field(default=())


def output_of(value: object) -> Output:
    """Parse a conversation's output: text, parts, JSON in a string, or an object of these."""
    if isinstance(value, str):
        return _from_string(value)
    if isinstance(value, list):
        return _from_parts(as_list(value))
    return _from_object(as_object(value))


def output_of_event(event: JsonObject) -> Output:
    """Parse the output in the event that ends a command or a patch."""
    streams = (text_at(event, "stdout").strip("\n"), text_at(event, "stderr").strip("\n"))
    text = text_at(event, "aggregated_output", "formatted_output") or "\n".join(filter(None, streams))
    status = text_at(event, "status")
    failed = count_at(event, "exit_code") != 0 or event.get("success") is False or status == "failed"
    return Output(text, is_error=failed, is_rejected=status == "declined")


def output_of_mcp(event: JsonObject) -> Output:
    """Parse the output in the event that ends an MCP call.

    Its forms are `{"Ok": result}`, `{"Err": reason}` and the bare result.
    """
    result = event.get("result")
    wrapped = as_object(result)
    if error := event.get("error") or wrapped.get("Err"):
        return _judged(as_text(as_object(error).get("message")) or as_shown(error), is_error=True)
    inside = object_at(wrapped, "Ok") or wrapped
    found = _from_parts(as_list(inside.get("content")))
    failed = inside.get("isError") is True or inside.get("is_error") is True or event.get("status") == "failed"
    return Output(found.text, is_error=failed, hidden=found.hidden)


def text_of(content: object) -> str:
    """Return the text in *content*, a string or a list of parts."""
    return content if isinstance(content, str) else _from_parts(as_list(content)).text


def is_text(part: JsonObject) -> bool:
    return isinstance(part.get("text"), str) and str(part.get("type", "text")) in _TEXTS


def _from_string(text: str) -> Output:
    if text.startswith(('{"output"', '[{"')):
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return _judged(text)
        if isinstance(value, dict):
            return _from_object(as_object(value))
        if all(is_text(as_object(part)) for part in value):
            return _from_parts(value)
    return _judged(text)


def _from_parts(found: list[Any]) -> Output:
    parts = blocks_in(found)
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
