"""Print tables, text or JSON (cut on a terminal only), notes and confirmation prompts."""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import unquote

import click
import orjson
from click.exceptions import Exit

from nous.cli.framework import DECLINED
from nous.domain.errors import BadInput
from nous.text.sanitize import one_line, readable, shortened

FAILURES: Mapping[str, str] = {
    "timeout": "the model did not answer in time",
    "transport": "the model could not be reached",
    "quota": "the model's quota is used up for now",
    "parse": "the model's answer could not be used",
    "other": "the model refused to answer",
}
"""Failure kinds in words. A stored reason begins with its kind, which programs read."""

T = TypeVar("T")

_FEW = 20  # items that need no progress bar
_GAP = "  "
_NARROWEST = 20
_UNBOUNDED = 10**9
_KIND = re.compile(rf"^({'|'.join(FAILURES)})(?=: |, for today|$)")
_CLASS = re.compile(r"\b(?:Model[A-Z][a-z]+|TokenBudgetExceeded|AllowanceSpent|AnswerUnusable): ")


def say(text: str, *, err: bool = False) -> None:
    """Print *text* from any source, without control sequences that could steer a terminal."""
    click.echo(readable(text), err=err)


def note(text: str) -> None:
    say(one_line(f"nous: {text}"), err=True)


def render(records: Any, lines: Iterable[str], *, as_json: bool, empty: str = "") -> None:
    """Print *records* as JSON or *lines* as text, or *empty*. Only what is printed is computed."""
    if as_json:
        print_json(records)
    else:
        say("\n".join(lines) or empty)


def render_table(
    records: Sequence[Mapping[str, Any]], columns: Mapping[str, str] | Sequence[str], *, as_json: bool, empty: str
) -> None:
    """Print *records* as JSON, or *columns* of them as a table; *empty* if there are none."""
    render(records, (table(records, columns) for _ in records[:1]), as_json=as_json, empty=empty)


def with_progress(items: Sequence[T], noun: str) -> Iterator[T]:
    """Yield *items*; on a terminal, show how many are done, their rate and the time left."""
    if len(items) < _FEW or not sys.stderr.isatty():
        yield from items
        return

    def rate(_: T | None) -> str:
        return f"{1 / bar.time_per_iteration:,.0f}/s" if bar.time_per_iteration else ""

    bar = click.progressbar(items, label=noun, show_pos=True, item_show_func=rate, file=sys.stderr)
    with bar:
        yield from bar


def print_json(value: Any, *, indent: bool = True) -> None:
    """Print *value*, which may hold dataclasses, iterators, dates and UUIDs, as JSON."""
    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    click.echo(orjson.dumps(value, default=_plain, option=option))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, Iterator) else str(value)


def table(records: Iterable[Mapping[str, Any]], columns: Mapping[str, str] | Sequence[str]) -> str:
    """Format *columns* (keys, or keys to headings); on a terminal the last one is cut."""
    heads = columns if isinstance(columns, Mapping) else {each: each.replace("_", " ") for each in columns}
    rows = [tuple(heads.values()), *(tuple(_cell(record[key]) for key in heads) for record in records)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)][:-1]
    beside = sum(widths) + len(_GAP) * len(widths)
    return "\n".join(_line(row, widths, beside) for row in rows)


def _line(cells: Sequence[str], widths: Sequence[int], beside: int) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return _GAP.join([*padded, _cut(cells[-1], beside)]).rstrip()


def _cell(value: Any) -> str:
    match value:
        case None | "":
            return "-"
        case datetime():
            return second(value)
        case float():
            return f"{value:.3f}"
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return one_line(str(value))


def fitted(text: str, *, beside: int = 0) -> str:
    """Return *text* on one line; on a terminal, cut to its width less *beside*."""
    return _cut(" ".join(text.split()), beside)


def _cut(text: str, beside: int) -> str:
    width = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else _UNBOUNDED
    return shortened(text, max(width - beside, _NARROWEST)) if len(text) > width - beside else text


def second(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else "-"


def day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else "an unknown day"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return *number* with *noun*, or with its *plural*, by default *noun* and an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def in_words(reason: str) -> str:
    """Translate a stored *reason* for people: the kind of failure in words, no error classes."""
    return _CLASS.sub("", _KIND.sub(lambda kind: FAILURES[kind[1]], reason))


def path_of(dataref: str) -> str:
    """Return the path that a reference to a transcript names, on one line."""
    return one_line(unquote(dataref.removeprefix("file://")))


def make_sure(question: str, *, otherwise: str) -> None:
    """Ask for confirmation; *otherwise* says what is the case without it.

    Raises `BadInput` without a terminal to ask on, and `Exit` if the answer is no.
    """
    if not sys.stdin.isatty():
        raise BadInput(f"{otherwise}: say --yes; there is no terminal to ask on")
    if not click.confirm(question, err=True):
        note(otherwise)
        raise Exit(DECLINED)
