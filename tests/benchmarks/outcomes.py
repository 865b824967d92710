"""How far the outcomes of sessions, judged without a model, agree with what others say of them; and what is told.

    python tests/benchmarks/outcomes.py [--data DIR] [--rewards FILE] [--references FILE] [--coding FILE]

The gold is explained in outcome/gold.py. Two rules that judge nothing stand beside every accuracy. A label of ours
means that the user got what was asked, so a refusal is `unresolved` although the reward of a right one is 1: the table
keeps those apart. After that: how long titles and summaries are, how many sessions have a lesson, and what it costs.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import process_time

from outcome.gold import CARRIED_OUT, CODING, DATA, REFERENCES, REWARDS, Case, references, rewards, sessions
from outcome.score import carried_out, confusion, figures, scored

from nous.summary.heuristic.summarize import Extracted, summarize
from nous.transcript.model import Transcript

TITLE_WORDS = (5, 10)
SUMMARY_WORDS = (100, 150)
MEGABYTES = 3.0
ROUNDS = 3


def main(chosen: Namespace) -> None:
    rewarded = chosen.rewards or chosen.data / REWARDS
    referenced = chosen.references or chosen.data / REFERENCES
    coding = chosen.coding or chosen.data / CODING
    _print(_judged("rewards of a service agent", rewarded, rewards, carried=CARRIED_OUT))
    _print(_judged("open items of coding sessions", referenced, references))
    _print(_told(coding) if coding.exists() else [f"what is told is not measured: there is no {coding}"])


def _judged(name: str, path: Path, read: Callable[[Path], tuple[Case, ...]], *, carried: str = "") -> Iterator[str]:
    if not path.exists():
        yield f"{name}: not measured, there is no {path}"
        return
    found = [scored(case) for case in read(path)]
    yield f"**{name}**, n={len(found)}"
    yield from ("", *confusion(found), "", *figures(found))
    if carried:
        yield from ("", *carried_out(found, carried))
    yield ""


def _told(path: Path) -> Iterator[str]:
    transcripts = sessions(path)
    extracted = [summarize(transcript) for transcript in transcripts]
    titles = [len(one.summary.title.split()) for one in extracted]
    proses = [len(one.summary.summary.split()) for one in extracted]
    yield f"**what is told of {len(extracted)} coding sessions**"
    yield ""
    yield _spread("words of a title", titles, TITLE_WORDS)
    yield _spread("words of a summary", proses, SUMMARY_WORDS)
    yield f"sessions with a lesson: {_share(one.summary.key_points for one in extracted)}"
    yield f"sessions with a candidate fact: {_share(one.candidate_facts for one in extracted)}"
    yield f"outcome cites its turns: {_share(one.outcome_turns for one in extracted)}"
    yield _cost(transcripts)


def _spread(what: str, found: Sequence[int], wanted: tuple[int, int]) -> str:
    low, high = wanted
    tenths = quantiles(found, n=10)
    within = sum(low <= one <= high for one in found) / len(found)
    return (
        f"{what}: p10 {tenths[0]:.0f}, median {median(found):.0f}, p90 {tenths[-1]:.0f};"
        f" {within:.2f} of them have {low} to {high}"
    )


def _cost(transcripts: Sequence[Transcript]) -> str:
    """The CPU time of `summarize` for the coding sessions joined to one of about three megabytes."""
    joined = _joined(transcripts, MEGABYTES)
    best = min(_timed(summarize, joined) for _ in range(ROUNDS))
    size = f"{joined.bytes / 1e6:.1f} MB in {len(joined.turns)} turns"
    return f"summarize: {best:.0f} ms for {size}, the best of {ROUNDS}"


def _joined(transcripts: Sequence[Transcript], megabytes: float) -> Transcript:
    entries, size, turn = [], 0, 0
    for number, transcript in enumerate(transcripts):
        if size >= megabytes * 1e6:
            break
        moved = [e._replace(id=f"{number}/{e.id}", turn=e.turn + turn) for e in transcript.entries]
        entries += moved
        turn = max((e.turn for e in moved), default=turn)
        size += sum(len(e.text.encode()) for e in moved)
    return Transcript(format="joined", entries=tuple(entries), digest="0" * 64, bytes=size)


def _timed(summarizing: Callable[[Transcript], Extracted], transcript: Transcript) -> float:
    began = process_time()
    summarizing(transcript)
    return 1000 * (process_time() - began)


def _share(found: Iterable[Sequence[object]]) -> str:
    told = [bool(one) for one in found]
    return f"{sum(told) / max(len(told), 1):.2f}"


def _print(lines: Iterable[str]) -> None:
    print("\n".join(lines), flush=True)


def _options() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="another folder with files of the same names")
    parser.add_argument("--rewards", type=Path, metavar="FILE.jsonl", help="other runs of the same form")
    parser.add_argument("--references", type=Path, metavar="FILE.jsonl.gz", help="other sessions with a summary")
    parser.add_argument("--coding", type=Path, metavar="FILE.jsonl.gz", help="other coding sessions")
    return parser


if __name__ == "__main__":
    main(_options().parse_args(sys.argv[1:]))
