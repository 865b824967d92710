"""Redact error messages and tracebacks for storage and logs: no credentials, no long quotes.

An error message may quote what was read: a line of a transcript, a key, an answer. Names and numbers help an operator
and are kept. Long quotes are replaced by their length.

A traceback has one frame a line, without values. The prefix says what the line is: two spaces for a frame of this
project or of the user's own code, a bar for a frame of a library, an exclamation mark for an error.
"""

import re
import sysconfig
import traceback
from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePath
from types import FrameType

from nous.redaction.redactor import masked
from nous.text.sanitize import one_line

# Default limit of one message, in characters.
_LONGEST = 400
_NAME = 60
_WORDS = 3
_PATH = 200
"""A quote of at most `_NAME` characters and `_WORDS` words is a name, one of at most `_PATH` characters a path or an
address. Longer quotes are content.
"""

_QUOTED = re.compile(r"(?<!\w)(['\"`])((?:\\.|(?!\1(?!\w)).)*)(\1(?!\w)|$)", re.DOTALL)
"""A quoted span. Without a closing quote it runs to the end of the text; the opening quote may then be an apostrophe.
"""

# A placeholder that a cut has left open.
_PARTIAL = re.compile(r"\[secret:[^\]]*$")
_EXAMINED = 10
"""Only the first `_EXAMINED * limit` characters are examined: the rest would be cut off anyway."""


def redacted(text: str, *, limit: int = _LONGEST) -> str:
    """Return *text* on one line, credentials masked, each long quote replaced by its length.

    The result has at most *limit* characters. Idempotent: redacted text is returned unchanged.
    """
    # Some messages quote a lone surrogate, which can neither be stored nor printed.
    line = one_line(text[: _EXAMINED * limit].encode(errors="replace").decode())
    short = _QUOTED.sub(_elided, masked(line))
    return short if len(short) <= limit else f"{_PARTIAL.sub('', short[: limit - 1]).rstrip()}…"


def _elided(found: re.Match[str]) -> str:
    mark, quoted, end = found[1], found[2], found[3]
    return found[0] if _is_name(quoted) else f"{mark}{len(quoted):,} characters{end}"


def _is_name(quoted: str) -> bool:
    words = quoted.split()
    if len(words) == 1:
        return len(quoted) <= (_PATH if "/" in quoted else _NAME)
    return len(quoted) <= _NAME and len(words) <= _WORDS


_FRAMES = 20
_ERRORS = 3
# Limit of a stored traceback, in characters.
_LONGEST_TRACE = 4000
_OURS = ("nous", "workers")
_ERROR, _OWN, _FOREIGN = "! ", "  ", "| "
_LEFT_OUT = "..."


def said(error: BaseException) -> str:
    """Return the type and redacted message of *error*."""
    return redacted(f"{type(error).__name__}: {error}")


def traced(error: BaseException) -> str:
    """Format the traceback of *error* and of its causes, oldest cause first.

    Lines are dropped from the beginning until the text fits into `_LONGEST_TRACE` characters.
    """
    lines: list[str] = []
    for each in _chain(error):
        lines += _frames(each)
        lines.append(f"{_ERROR}{said(each)}")
    while sum(map(len, lines)) + len(lines) > _LONGEST_TRACE:
        del lines[0]
    return "\n".join(lines)


def place(error: BaseException) -> str:
    """Return the innermost non-library frame that *error* passed, or "" if there is none."""
    own = (line.removeprefix(_OWN) for line in reversed(_frames(error)) if line.startswith(_OWN))
    return next((line for line in own if not line.startswith(_LEFT_OUT)), "")


def folded(trace: str) -> Iterator[str]:
    """Yield the lines of *trace* for display, each run of library frames folded into one line."""
    for is_foreign, run in groupby(trace.splitlines(), key=lambda line: line.startswith(_FOREIGN)):
        lines = list(run)
        if is_foreign:
            packages = dict.fromkeys(re.split(r"/|\.py:", line.removeprefix(_FOREIGN))[0] for line in lines)
            frames = "1 frame" if len(lines) == 1 else f"{len(lines)} frames"
            yield f"{_OWN}... {frames} in {', '.join(packages)}"
        else:
            yield from (line.removeprefix(_ERROR) for line in lines)


def whole(trace: str) -> Iterator[str]:
    """Yield every line of *trace* for display."""
    return (line.removeprefix(_ERROR).replace(_FOREIGN, _OWN, 1) for line in trace.splitlines())


def _chain(error: BaseException) -> list[BaseException]:
    """Return *error* and its causes, oldest first; at most `_ERRORS` of them."""
    found: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in found and len(found) < _ERRORS:
        found.insert(0, each)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return found


def _frames(error: BaseException) -> list[str]:
    frames = list(traceback.walk_tb(error.__traceback__))
    lines = [_line(frame, number) for frame, number in frames[-_FRAMES:]]
    return [f"{_OWN}{_LEFT_OUT} {len(frames) - _FRAMES} frames before", *lines] if len(frames) > _FRAMES else lines


def _line(frame: FrameType, number: int) -> str:
    module = str(frame.f_globals.get("__name__", "?"))
    file = frame.f_code.co_filename
    shown = PurePath(file).name if module == "__main__" else f"{module.replace('.', '/')}.py"
    mark = _FOREIGN if _is_foreign(module, file) else _OWN
    return f"{mark}{shown}:{number} in {frame.f_code.co_name}"


def _is_foreign(module: str, file: str) -> bool:
    if module.partition(".")[0] in _OURS:
        return False
    places = sysconfig.get_paths()
    libraries = [places[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return file.startswith("<frozen") or any(file.startswith(f"{each}/") for each in libraries)
