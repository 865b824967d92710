"""What a failed tool call has to say, in a few lines."""

import re
from collections.abc import Sequence

from nous.secrets import looks_secret
from nous.transcript.model import Entry, Trust

LONGEST = 320
"""Characters of an error that are worth showing; more of it is a log."""

_LINES = 3
_HEAD = 200
"""Characters in which a result has begun by any measure."""

_LOOKED_AT = 4000
_NEW_LINE = "\n"
_TELLING = re.compile(
    r"\b(?:error|errors|fail|failed|failure|fatal|exception|denied|refused|cannot|can't|could not|unable|undefined"
    r"|not found|no such|does not exist|invalid|missing|unexpected|panic|traceback|timed out|conflict)\b"
    r"|\w(?:Error|Exception)\b|\bFAIL\b",
    re.IGNORECASE,
)
_HINTS = (
    *(
        "error",
        "fail",
        "fatal",
        "exception",
        "denied",
        "refused",
        "cannot",
        "can't",
        "could not",
        "unable",
        "undefined",
    ),
    *("not found", "no such", "does not exist", "invalid", "missing", "unexpected", "panic", "traceback", "timed out"),
    "conflict",
)
"""One of these is in whatever `_TELLING` finds; looking for them is faster."""

_NO_FAILURE = re.compile(r"\b(?:0|no) (?:errors?|fail(?:ed|ures?))\b", re.IGNORECASE)
_STATUS = re.compile(r"^(?:exit code|exit status|command failed with)\b[^a-z]*$", re.IGNORECASE)
_TAG = re.compile(r"</?(?:tool_use_error|error|stderr|stdout)>")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BEGINS_AS_ERROR = re.compile(r"\s*(?:<tool_use_error>|(?:\w*Error|error|ERROR)\b\s*:)")


def looks_failed(result: Entry) -> bool:
    """Whether a tool result reports a failure. Formats without an error flag say it in the first word.

    That of a page of the web is not believed, which anybody may have written.
    """
    if result.is_error:
        return True
    head = result.text[:_HEAD]
    is_told = ("rror" in head or "ERROR" in head) and _BEGINS_AS_ERROR.match(head) is not None
    return is_told and result.trust is not Trust.WEB


def failure(text: str) -> str:
    """The lines of *text* that tell what went wrong, at most `LONGEST` characters; empty if only a status is told.

    No line that looks as if it held a secret is among them.
    """
    plain = _plain(text)
    said = [line for whole in plain.splitlines() if (line := whole.strip()) and not _STATUS.match(line)]
    if looks_secret(plain):
        said = [line for line in said if not looks_secret(line)]
    lower = plain.lower()
    hints = [hint for hint in _HINTS if hint in lower]
    telling = [line for line in said if _is_telling(line, hints)]
    chosen = _first_and_last(telling) or said[:1]
    return _shortened(chosen)


def _is_telling(line: str, hints: Sequence[str]) -> bool:
    lower = line.lower()
    if not any(hint in lower for hint in hints):
        return False
    return _TELLING.search(line) is not None and _NO_FAILURE.search(line) is None


def _plain(text: str) -> str:
    """*text* without what is only for the eye. Of a long log, the beginning and the end are looked at."""
    if len(text) > 2 * _LOOKED_AT:
        head, tail = text[:_LOOKED_AT], text[-_LOOKED_AT:]
        text = f"{head.rpartition(_NEW_LINE)[0] or head}\n{tail.partition(_NEW_LINE)[2] or tail}"
    return _TAG.sub("", _ANSI.sub("", text.replace("\r", "\n")))


def _first_and_last(lines: Sequence[str]) -> list[str]:
    """A failing build names the first cause at its top and the verdict at its bottom."""
    unique = list(dict.fromkeys(lines))
    return unique if len(unique) <= _LINES else [*unique[: _LINES - 1], unique[-1]]


def _shortened(lines: Sequence[str]) -> str:
    share = LONGEST // max(1, len(lines)) - 1
    return "\n".join(line if len(line) <= share else line[: share - 3] + "..." for line in lines)
