"""How episodes made without a model compare with what careful readers wrote down of the same sessions.

    python tests/benchmarks/episodes.py [--gold FILE.jsonl] [--data DIR]

Every accuracy stands beside the rule that always says the most frequent outcome. After that: how long titles and
summaries are, how many sessions have a lesson, and the CPU time of `summarize` beside that of reading the file.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import process_time
from typing import Any

from common.measure import DATA
from common.sessions import session_of

from nous.summary.heuristic.summarize import Extracted, summarize

TITLE_WORDS, SUMMARY_WORDS = (5, 10), (100, 150)

Gold = Mapping[str, Any]


def main(chosen: Namespace) -> None:
    gold_file = chosen.gold or chosen.data / "gold" / "episodes_dev.jsonl"
    if not gold_file.exists():
        print(f"not measured: there is no {gold_file}")
        return
    gold: list[Gold] = [json.loads(line) for line in gold_file.read_text().splitlines() if line.strip()]
    began = process_time()
    transcripts = [session_of(chosen.data, row["file"]) for row in gold]
    read = process_time()
    found = [summarize(transcript) for transcript in transcripts]
    done = process_time()
    for name, is_service in (("coding", False), ("service", True)):
        print(
            "\n".join(_judged(name, [each for each in zip(gold, found, strict=True) if _serves(each[0]) is is_service]))
        )
    print("\n".join(_told(found)))
    print(f"summarize: {1000 * (done - read):.0f} ms of CPU, {(done - read) / (read - began):.2f} of reading the files")


def _serves(row: Gold) -> bool:
    return "openai_chat" in row["file"]


def _judged(name: str, pairs: Sequence[tuple[Gold, Extracted]]) -> Iterator[str]:
    wanted = Counter(row["outcome"] for row, _ in pairs)
    right = [one.summary.outcome in {row["outcome"], row.get("alt_outcome")} for row, one in pairs]
    sure = [is_right for is_right, (_, one) in zip(right, pairs, strict=True) if one.is_sure]
    partial = [is_right for is_right, (_, one) in zip(right, pairs, strict=True) if one.summary.outcome == "partial"]
    most, count = wanted.most_common(1)[0]
    yield f"**{name}**, n={len(pairs)}"
    yield f"outcome: {_share(right)}, always {most!r} {count / len(pairs):.2f}"
    yield f"sure in {len(sure) / len(pairs):.2f}, then right: {_share(sure)}; partial is right: {_share(partial)}\n"


def _told(found: Sequence[Extracted]) -> Iterator[str]:
    yield _spread("words of a title", [len(one.summary.title.split()) for one in found], TITLE_WORDS)
    yield _spread("words of a summary", [len(one.summary.summary.split()) for one in found], SUMMARY_WORDS)
    yield f"sessions with a lesson: {_share([bool(one.summary.key_points) for one in found])}"
    yield f"sessions with a candidate fact: {_share([bool(one.candidate_facts) for one in found])}"


def _spread(what: str, found: Sequence[int], wanted: tuple[int, int]) -> str:
    low, high = wanted
    tenths = quantiles(found, n=10)
    within = sum(low <= one <= high for one in found) / len(found)
    bounds = f"p10 {tenths[0]:.0f}, median {median(found):.0f}, p90 {tenths[-1]:.0f}"
    return f"{what}: {bounds}; {within:.2f} of them have {low} to {high}"


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found)} of {len(found)}, {sum(found) / max(len(found), 1):.2f}"


def _options() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gold", type=Path, metavar="FILE.jsonl", help="other labelled sessions of the same form")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder that their files are in")
    return parser


if __name__ == "__main__":
    main(_options().parse_args(sys.argv[1:]))
