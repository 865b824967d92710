"""How fast Claude Code sessions are read, beside a bare `orjson.loads` of every line in the same run.

    python tests/benchmarks/read_speed.py [FILE...]

CPU time. Without files: the sessions in ../shared/data, if they are there.
"""

import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from statistics import median

import orjson
from common.measure import DATA, content, cpu

from nous.transcript import read_transcript

ROUNDS = 15


def main(paths: Sequence[Path]) -> None:
    contents = [content(path) for path in paths]
    megabytes = sum(map(len, contents)) / 1e6
    # In turns, since the clock of a shared machine is not the same from one second to the next.
    rounds = [(cpu(_parse_all, contents), cpu(_read_all, contents)) for _ in range(ROUNDS)]
    bare, read = (median(times) for times in zip(*rounds, strict=True))
    ratios = sorted(reading / parsing for parsing, reading in rounds)
    print(f"{len(paths)} files, {megabytes:.1f} MB, median of {ROUNDS} rounds in turns")
    print(f"orjson.loads per line  {bare * 1000:8.1f} ms CPU  {megabytes / bare:7.0f} MB/s")
    print(f"read_transcript        {read * 1000:8.1f} ms CPU  {megabytes / read:7.0f} MB/s")
    print(f"ratio                  {median(ratios):8.2f} (from {ratios[0]:.2f} to {ratios[-1]:.2f})")


def _parse_all(contents: Sequence[bytes]) -> None:
    for each in contents:
        for line in each.split(b"\n"):
            try:
                orjson.loads(line)
            except orjson.JSONDecodeError:
                continue


def _read_all(contents: Sequence[bytes]) -> None:
    for each in contents:
        read_transcript(BytesIO(each), format="claude_code")


if __name__ == "__main__":
    found = [Path(argument) for argument in sys.argv[1:]] or sorted(DATA.glob("claude_code*/*.jsonl*"))
    if found:
        main(found)
    else:
        print("reading is not measured: there are no sessions, name some")
