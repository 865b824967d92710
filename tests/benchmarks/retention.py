"""How much of what must be kept survives a budget, by data set, strategy and budget.

    python tests/benchmarks/retention.py [--strategies default,fast,...] [--budgets 2000,...] [--sets coding_dev,...]

Reads the normalised turns and the gold in ../shared/data/retention, scores by the functions of its
`score_retention.py`, and leaves out sessions that would nearly fit whole. *must* is the mean over what people said and
decided, errors, commits, paths and last words; *fill* is the share of the budget that was used.
"""

import argparse
import gzip
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import orjson

from nous.excerpt import fit
from nous.transcript.model import Entry, Kind, Transcript

DATA = Path(__file__).parents[3] / "shared" / "data" / "retention"
MUST = ("user", "final", "decision", "error", "commit", "path")
NEARLY_FITS = 1.1
_KINDS = {"event": Kind.SYSTEM}
_REASON = "the user said:\n"

Score = Callable[[str, Sequence[Any]], Mapping[str, float]]


def main(strategies: Sequence[str], budgets: Sequence[int], sets: Sequence[str]) -> None:
    score = _score_function()
    for name in sets:
        sessions = [
            orjson.loads(line) for line in gzip.decompress((DATA / f"{name}.jsonl.gz").read_bytes()).splitlines()
        ]
        for strategy in strategies:
            for budget in budgets:
                long_ones = [session for session in sessions if session["chars"] > budget * NEARLY_FITS]
                if long_ones:
                    print(f"{name:<14} {strategy:<8} {budget:>6} {_measured(long_ones, strategy, budget, score)}")


def _measured(sessions: Sequence[Mapping[str, Any]], strategy: str, budget: int, score: Score) -> str:
    kept: dict[str, list[float]] = defaultdict(list)
    lengths: list[int] = []
    began = process_time()
    texts = [fit(transcript_of(session["turns"]), budget, strategy=strategy).text for session in sessions]
    spent = 1000 * (process_time() - began) / len(sessions)
    for session, text in zip(sessions, texts, strict=True):
        lengths.append(len(text))
        for category, value in score(text, session["gold"]).items():
            kept[category].append(value)
    means = {category: sum(values) / len(values) for category, values in sorted(kept.items())}
    must = [means[category] for category in MUST if category in means]
    figures = " ".join(f"{category}={mean:.3f}" for category, mean in means.items())
    fill = sum(lengths) / len(lengths) / budget
    over = sum(length > budget for length in lengths)
    return f"n={len(sessions)} must={sum(must) / len(must):.3f} {figures} fill={fill:.2f} over={over} ms={spent:.1f}"


def transcript_of(turns: Sequence[Mapping[str, Any]]) -> Transcript:
    """The normalised *turns* as a transcript."""
    entries = tuple(_entries(turns))
    return Transcript(format="normalised", entries=entries, digest="0" * 64, bytes=sum(len(e.text) for e in entries))


def _entries(turns: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    turn = 0
    for number, one in enumerate(turns):
        kind = Kind.DECISION if one.get("decision") or one.get("rejected") else _KINDS.get(one["role"])
        kind = kind or Kind(one["role"])
        turn += kind is Kind.USER
        given = _arguments(one) if kind is Kind.TOOL_CALL else None
        yield Entry(
            kind=kind,
            text=_said(one) if kind is Kind.DECISION else one.get("short") or one["text"],
            id=f"e{number}",
            turn=turn,
            tool=one.get("tool") if given else None,
            tool_input=given,
            is_error=bool(one.get("error")) and kind is Kind.TOOL_RESULT,
        )


def _said(decision: Mapping[str, Any]) -> str:
    """A decision as the readers tell it: what was rejected, and the user's reason."""
    _, found, reason = str(decision["text"]).partition(_REASON)
    return f"Rejected {decision.get('tool')}: {reason}" if found else str(decision["text"])


def _arguments(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """The input of a call, which stands as `Tool({...})`; None where that was cut."""
    try:
        given = orjson.loads(str(call["text"])[len(str(call.get("tool") or "")) + 1 : -1])
    except orjson.JSONDecodeError:
        return None
    return given if isinstance(given, dict) else None


def _score_function() -> Score:
    path = DATA / "score_retention.py"
    if not path.exists():
        sys.exit(f"no retention data: {path} is not there")
    spec = importlib.util.spec_from_file_location("score_retention", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--strategies", default="default,fast,spec,head,middle")
    parser.add_argument("--budgets", default="2000,4000,8000,16000")
    parser.add_argument("--sets", default="coding_dev,reference_dev,tau_dev")
    chosen = parser.parse_args()
    main(chosen.strategies.split(","), [int(b) for b in chosen.budgets.split(",")], chosen.sets.split(","))
