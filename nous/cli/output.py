"""Output of commands: text and tables for people, JSON for programs."""

import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
import orjson

from nous.text.sanitize import one_line, readable, shortened

_GAP = "  "

FAILURES: Mapping[str, str] = {
    "timeout": "the model did not answer in time",
    "transport": "the model could not be reached",
    "quota": "the model's quota is used up for now",
    "parse": "the model's answer could not be used",
    "other": "the model refused to answer",
}
"""Failure kinds in words. A stored reason begins with its kind, which programs read."""

_KIND = re.compile(rf"^({'|'.join(FAILURES)})(?=: |, for today|$)")
_CLASS = re.compile(r"\b(?:Model[A-Z][a-z]+|TokenBudgetExceeded|AllowanceSpent|AnswerUnusable): ")


def say(text: str, *, err: bool = False) -> None:
    """Print *text* for people, without control sequences that could steer their terminal.

    It may quote text from any source.
    """
    click.echo(readable(text), err=err)


def print_json(value: Any) -> None:
    """Print *value*, which may hold dataclasses, dates and UUIDs, as indented JSON."""
    click.echo(orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format rows as aligned columns; on a terminal, the last column is cut to its width."""
    lines = [tuple(heads), *(tuple(one_line(str(cell)) for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    if not sys.stdout.isatty():
        return "\n".join(_line(line, widths[:-1], 10**9) for line in lines)
    room = max(shutil.get_terminal_size((120, 24)).columns - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1), 20)
    return "\n".join(_line(line, widths[:-1], room) for line in lines)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return *number* with *noun*, or with its *plural*, by default *noun* and an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def in_words(reason: str) -> str:
    """Translate a stored *reason* for people: the kind of failure in words, no error classes."""
    return _CLASS.sub("", _KIND.sub(lambda kind: FAILURES[kind[1]], reason))


def _line(cells: Sequence[str], widths: Sequence[int], room: int) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return _GAP.join([*padded, shortened(cells[-1], room)]).rstrip()
