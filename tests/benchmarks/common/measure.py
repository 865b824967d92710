"""The public samples, and the time that something takes."""

import gzip
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import ParamSpec

from nous.domain.episode import Outcome, Summary

P = ParamSpec("P")

DATA = Path(__file__).parents[4] / "shared" / "data"
SUMMARY = Summary(
    title="-", summary="-", key_points=(), outcome=Outcome.INFORMATIONAL, outcome_rationale="-", topics=()
)
"""One that says nothing."""


def content(path: Path) -> bytes:
    """Return the content of a file, decompressed."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def cpu(task: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    """Seconds of CPU that *task* takes."""
    began = process_time()
    task(*args, **kwargs)
    return process_time() - began
