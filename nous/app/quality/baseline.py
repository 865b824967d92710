"""Compare measures with a baseline file: by summarizer and measure, a value and its items."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import FiniteFloat, PositiveInt, TypeAdapter, ValidationError

from nous.app.quality.measures import Measure
from nous.domain.errors import BadInput
from nous.transcript.load import accessing

POINTS, ITEMS = 0.05, 2
REGRESSED = "regressed"


@dataclass(frozen=True, slots=True)
class Reference:
    """A measure at an earlier time, when it may have had other items."""

    value: FiniteFloat
    n: PositiveInt


Baseline = Mapping[str, Mapping[str, Reference]]
_ADAPTER = TypeAdapter(dict[str, dict[str, Reference]])


def load_baseline(path: Path) -> Baseline:
    """Read a baseline. Raises `NotFound`, or `BadInput` if it is none."""
    with accessing(path):
        raw = path.read_bytes()
    try:
        return _ADAPTER.validate_json(raw)
    except ValidationError as error:
        raise BadInput(f"{path} is no baseline: {error.errors()[0]['msg']}") from None


def save_baseline(path: Path, by: str, measures: Sequence[Measure]) -> None:
    """Replace the measures of the summarizer *by* in the baseline at *path*, atomically."""
    baseline = load_baseline(path) if path.exists() else {}
    own = {each.name: Reference(round(each.value, 6), each.n) for each in measures if each.n}
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        beside.write_bytes(orjson.dumps({**baseline, by: own}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        beside.replace(path)
    except OSError as error:
        raise BadInput(f"{path} could not be written: {error.strerror}") from error


def compared(measures: Sequence[Measure], before: Mapping[str, Reference]) -> Sequence[Mapping[str, Any]]:
    """Return a row for each measure; those that only the baseline has come last."""
    gone = [Measure(name=name) for name in before if name not in {each.name for each in measures}]
    return [
        {
            "measure": each.name,
            "value": each.value if each.n else None,
            "n": each.n,
            "target": each.target and f"{'<' if each.lower_is_better else '>'} {each.target:g}",
            "baseline": before[each.name].value if each.name in before else None,
            "verdict": _verdict(each, before.get(each.name)),
        }
        for each in (*measures, *gone)
    ]


def _verdict(measure: Measure, before: Reference | None) -> str:
    """Judge a loss of over five points, or percent of tokens, and two items to be a regression.

    The items are those of the larger n, since what is measured may be the reason why there are fewer now. So is a
    measure of the baseline that is not measured any more.
    """
    if not measure.n:
        return REGRESSED if before else "not measured"
    sign = 1 if measure.lower_is_better else -1
    loss = sign * (measure.value - before.value) if before else 0.0
    loss /= max(before.value, 1.0) if before and measure.in_tokens else 1.0
    items = max(measure.n, before.n) if before else measure.n
    if round(loss, 4) > POINTS and round(loss * items, 2) > ITEMS:
        return REGRESSED
    misses = measure.target is not None and sign * (measure.value - measure.target) > 0
    return "misses its target" if misses else ""
