"""Gold: sessions as normalised turns, and what of each an excerpt ought to keep.

A data set is a file `NAME.jsonl.gz`: a session a line, `{"turns": [...], "gold": [[category, kind, payload], ...]}`.
What is kept is counted by `score_retention.py`, which lies beside the data.
"""

import gzip
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from nous.excerpt import fit
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_summary import paths_touched

DATA = Path(__file__).parents[4] / "shared" / "data" / "retention"
NEARLY_FITS = 1.1
"""A session of at most this many budgets says little of what is chosen, and is left out."""

BASELINES = ("head", "middle")
"""Plain cuts to compare with: of all that was said the beginning, or the beginning and the end."""

_CUT = "\n\n[...]\n\n"
_UNBOUNDED = 10**9
_SCORER = "score_retention.py"
_KINDS: Mapping[str, Kind] = {**{kind.value: kind for kind in Kind}, "event": Kind.SYSTEM, "tool": Kind.TOOL_RESULT}
_REASON = "the user said:\n"

Turn = Mapping[str, Any]
Score = Callable[[str, Sequence[Any]], Mapping[str, float]]
"""From an excerpt and the gold of its session to the share that is kept, by category."""


@dataclass(frozen=True, slots=True)
class Session:
    """`chars` is its length when it is shown whole."""

    turns: Sequence[Turn]
    gold: Sequence[Any]
    chars: int

    @property
    def megabytes(self) -> float:
        return megabytes(self.turns)


def data_sets(folder: Path) -> dict[str, tuple[Session, ...]]:
    """The sessions of every data set in *folder*, by its name."""
    found = sorted(folder.glob("*.jsonl.gz"))
    return {path.name.removesuffix(".jsonl.gz"): tuple(_sessions(path)) for path in found}


def score_function(folder: Path) -> Score | None:
    """What counts the gold: that of *folder*, else that of the shared data; None where neither has one."""
    path = next((path for place in (folder, DATA) if (path := place / _SCORER).exists()), None)
    spec = importlib.util.spec_from_file_location(path.stem, path) if path else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


def kept(turns: Iterable[Turn], budget: int, *, strategy: str = "default") -> str:
    """Return the excerpt of *turns* by *strategy*."""
    return excerpt_of(transcript_of(turns), budget, strategy)


def excerpt_of(transcript: Transcript, budget: int, strategy: str) -> str:
    """Return the excerpt by *strategy*; by one of `BASELINES`, a cut of all that was said."""
    if strategy not in BASELINES:
        return fit(transcript, budget, strategy=strategy).text
    everything = fit(transcript, _UNBOUNDED, strategy="spec").text  # which shows no output of tools
    if len(everything) <= budget or strategy == "head":
        return everything[:budget]
    half = (budget - len(_CUT)) // 2
    return f"{everything[:half]}{_CUT}{everything[-half:]}"


kept_spec = partial(kept, strategy="spec")


def transcript_of(turns: Iterable[Turn]) -> Transcript:
    """Normalised *turns* as the readers would have read them.

    Every key of a turn may be missing, None or empty; what is no turn is passed over. The words of an unknown role
    count as the assistant's, since nobody may speak in the user's name.
    """
    entries = tuple(_entries(turns))
    size = sum(len(entry.text) for entry in entries)
    return Transcript(format="normalised", entries=entries, digest="0" * 64, bytes=size)


def text_of(turn: Turn) -> str:
    return _text(turn, "text")


def megabytes(turns: Iterable[Turn]) -> float:
    """The length of their text in UTF-8, in millions of bytes."""
    return sum(len(text_of(turn).encode()) for turn in turns) / 1e6


def _sessions(path: Path) -> Iterator[Session]:
    for line in gzip.decompress(path.read_bytes()).splitlines():
        read = orjson.loads(line)
        turns = read["turns"]
        yield Session(turns, read["gold"], read.get("chars") or sum(len(text_of(turn)) for turn in turns))


def _entries(turns: Iterable[Any]) -> Iterator[Entry]:
    number = 0
    for at, turn in enumerate(turns):
        if isinstance(turn, Mapping):
            entry = _entry(turn)
            number += entry.kind is Kind.USER
            yield entry._replace(id=f"e{at}", turn=number)


def _entry(turn: Turn) -> Entry:
    kind = _kind(turn)
    if kind is Kind.TOOL_CALL:
        return _call(turn)
    if kind is Kind.DECISION:
        return Entry(kind=kind, text=_decision(turn), id="")
    failed = kind is Kind.TOOL_RESULT and bool(turn.get("error") or turn.get("is_error"))
    return Entry(kind=kind, text=text_of(turn) or _text(turn, "short"), id="", tool=_tool(turn), is_error=failed)


def _kind(turn: Turn) -> Kind:
    decides = turn.get("decision") or turn.get("rejected")
    return Kind.DECISION if decides else _KINDS.get(_text(turn, "role"), Kind.ASSISTANT)


def _decision(turn: Turn) -> str:
    """A decision as the readers tell it: what was rejected, and the user's reason."""
    text = text_of(turn)
    _, found, reason = text.partition(_REASON)
    return f"Rejected {_text(turn, 'tool') or 'a call'}: {reason}" if found else text


def _call(turn: Turn) -> Entry:
    """A call with its input, which stands as `Tool({...})`; with its text alone where that was cut."""
    text = text_of(turn)
    short = _text(turn, "short") or text
    name, _, rest = text.partition("(")
    given = _input(rest.removesuffix(")"))
    if given is None:
        return Entry(kind=Kind.TOOL_CALL, text=short, id="", paths=_paths(turn))
    tool = _text(turn, "tool") or name
    paths = paths_touched(tool, given) or _paths(turn)
    return Entry(kind=Kind.TOOL_CALL, text=short, id="", tool=tool, tool_input=given, paths=paths)


def _tool(turn: Turn) -> str | None:
    return _text(turn, "tool") or None


def _input(text: str) -> dict[str, Any] | None:
    try:
        given = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return given if isinstance(given, dict) else None


def _paths(turn: Turn) -> tuple[str, ...]:
    paths = turn.get("paths")
    return tuple(path for path in paths if isinstance(path, str) and path) if isinstance(paths, list | tuple) else ()


def _text(turn: Turn, key: str) -> str:
    value = turn.get(key)
    return value if isinstance(value, str) else "" if value is None else str(value)
