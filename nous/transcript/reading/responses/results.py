"""What came of a call: in an item of its own, or in that of the call."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from nous.transcript.reading.chats.marks import tells_of_failure
from nous.transcript.reading.fields import as_count, as_list, as_object, as_shown, as_text
from nous.transcript.reading.responses.items import Item, text_in

_NOT_APPROVED = ("Tool execution was not approved.",)


class Result(NamedTuple):
    """What came back. `passed` are the parts that are no text."""

    text: str
    is_error: bool = False
    is_rejected: bool = False
    passed: tuple[str, ...] = ()


def output_of(item: Item) -> Result:
    """What an output says, and whether the call failed."""
    given = _unwrapped(item.get("output"))
    failed = item.get("status") == "failed"
    if isinstance(given, dict):
        return _of_object(as_object(given), failed=failed)
    runs = [as_object(run) for run in as_list(given) if "outcome" in as_object(run)]
    if runs:
        text = "\n\n".join(filter(None, map(_run, runs)))
        return Result(text, failed or any(map(_is_failure, runs)))
    text, passed = text_in(given)
    if text.startswith(_NOT_APPROVED):
        return Result(_without(text), is_rejected=True)
    return Result(text, failed or tells_of_failure(text), passed=passed)


def result_inside(item: Item) -> Result | None:
    """What came of a call that the platform made itself; None if its item does not say."""
    error = item.get("error")
    if error:
        return Result(as_text(as_object(error).get("message")) or as_shown(error), is_error=True)
    if item.get("status") == "failed":
        return Result("failed", is_error=True)
    text = as_text(item.get("output")) or "\n\n".join(filter(None, _found(item)))
    return Result(text, tells_of_failure(text)) if text else None


def _found(item: Item) -> Iterator[str]:
    for result in map(as_object, as_list(item.get("results"))):
        yield "\n".join(filter(None, (as_text(result.get(key)) for key in ("filename", "title", "url", "text"))))
    for output in map(as_object, as_list(item.get("outputs"))):
        yield as_text(output.get("logs"))
    sources = map(as_object, as_list(as_object(item.get("action")).get("sources")))
    yield "\n".join(filter(None, (as_text(source.get("url")) for source in sources)))


def _unwrapped(output: object) -> object:
    """An output that was put in a JSON string together with how the command ended."""
    if not isinstance(output, str) or not output.startswith("{"):
        return output
    try:
        found = as_object(orjson.loads(output))
    except orjson.JSONDecodeError:
        return output
    is_wrapped = "output" in found and "metadata" in found
    return found if is_wrapped or {"stdout", "exit_code"} <= found.keys() else output


def _of_object(given: Mapping[str, Any], *, failed: bool) -> Result:
    code = as_object(given.get("metadata")).get("exit_code", given.get("exit_code"))
    failed = failed or as_count(code) != 0 or given.get("success") is False
    text, passed = text_in([given])
    if text:
        return Result(text, failed)
    said = [as_text(given.get(key)) for key in ("output", "stdout", "stderr", "content")]
    text = "\n".join(filter(None, said))
    if not text and as_text(given.get("type")):
        return Result("", failed, passed=passed)
    return Result(text or as_shown(dict(given)), failed)


def _run(run: Mapping[str, Any]) -> str:
    """What a command of a shell printed, and how it ended if it failed."""
    outcome = as_object(run.get("outcome"))
    said = [as_text(run.get(key)).rstrip("\n") for key in ("stdout", "stderr")]
    if _is_failure(run):
        code = outcome.get("exit_code")
        said.append(f"exit code {code}" if code is not None else as_text(outcome.get("type")))
    return "\n".join(filter(None, said))


def _is_failure(run: Mapping[str, Any]) -> bool:
    outcome = as_object(run.get("outcome"))
    return outcome.get("type") == "timeout" or as_count(outcome.get("exit_code")) != 0


def _without(text: str) -> str:
    """The reason that follows the note of a rejection, if one does."""
    return text.removeprefix(_NOT_APPROVED[0]).strip()
