"""Tracebacks as they are kept and shown: which lines of whose code, and no values.

A line a frame: a path of ours is indented, one of a library begins with a bar, an error with an exclamation mark.
"""

import re
import sysconfig
import traceback
from collections.abc import Iterator
from itertools import groupby
from pathlib import PurePath
from types import FrameType

from nous.redaction.error_text import redacted

_FRAMES = 20
_ERRORS = 3
_LONGEST = 4000
"""Characters of what is kept."""

_OURS = ("nous", "workers")
_ERROR, _OWN, _FOREIGN = "! ", "  ", "| "


def said(error: BaseException) -> str:
    """The kind of *error* and its text, as it may be kept."""
    return redacted(f"{type(error).__name__}: {error}")


def traced(error: BaseException) -> str:
    """The traceback of *error*, from what led to it on, without what does not fit."""
    lines: list[str] = []
    for each in _chain(error):
        lines += _frames(each)
        lines.append(f"{_ERROR}{said(each)}")
    while sum(map(len, lines)) + len(lines) > _LONGEST:
        del lines[0]
    return "\n".join(lines)


def place(error: BaseException) -> str:
    """The last line of our code, or of whoever's that is no library, which *error* passed; "" where there is none."""
    return next((line.removeprefix(_OWN) for line in reversed(_frames(error)) if line.startswith(_OWN)), "")


def folded(trace: str) -> Iterator[str]:
    """The lines of *trace* to show, with one for all the frames in libraries that follow each other."""
    for is_foreign, run in groupby(trace.splitlines(), key=lambda line: line.startswith(_FOREIGN)):
        lines = list(run)
        if is_foreign:
            packages = dict.fromkeys(re.split(r"/|\.py:", line.removeprefix(_FOREIGN))[0] for line in lines)
            frames = "1 frame" if len(lines) == 1 else f"{len(lines)} frames"
            yield f"{_OWN}... {frames} in {', '.join(packages)}"
        else:
            yield from (line.removeprefix(_ERROR) for line in lines)


def whole(trace: str) -> Iterator[str]:
    """Every line of *trace* to show."""
    return (line.removeprefix(_ERROR).replace(_FOREIGN, _OWN, 1) for line in trace.splitlines())


def _chain(error: BaseException) -> list[BaseException]:
    """*error* and what led to it, oldest first."""
    found: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in found and len(found) < _ERRORS:
        found.insert(0, each)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return found


def _frames(error: BaseException) -> list[str]:
    frames = list(traceback.walk_tb(error.__traceback__))
    lines = [_line(frame, number) for frame, number in frames[-_FRAMES:]]
    return [f"{_OWN}... {len(frames) - _FRAMES} frames before", *lines] if len(frames) > _FRAMES else lines


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
