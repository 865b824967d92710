"""T3, T4, T5: several processes write one transcript, are killed while they do, and fill the disk."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from signal import SIGKILL

import orjson
import pytest
from builders.waiting import wait_until

from nous.transcript import TranscriptWriter, read_events, read_transcript

EVENTS = 250
ROUNDS = 20
LONGEST_EVENT = 201_000
"""Bytes of one that is written for ever, at most."""

SOON = 0.002
"""Seconds between two looks at a file that grows by megabytes while nobody looks."""

WRITE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from nous.transcript import TranscriptWriter

base, process, threads, events, layout = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5]), sys.argv[5]

def write(thread):
    writer = TranscriptWriter("shared", base=base, layout=layout)
    for number in range(events):
        writer.append({"type": "user_message", "content": f"{process}.{thread} {number} " + "x" * (number % 7 * 500)})
    return writer.failures

with ThreadPoolExecutor(threads) as pool:
    print(sum(pool.map(write, range(threads))))
"""

WRITE_FOR_EVER = """
import itertools, sys
from nous.transcript import TranscriptWriter

writer = TranscriptWriter("killed", base=sys.argv[1])
for number in itertools.count():
    writer.append({"type": "user_message", "content": f"{sys.argv[2]} {number} " + "x" * 200_000})
"""

WRITE_UNTIL_IT_IS_FULL = """
import resource, signal, sys
from nous.transcript import TranscriptWriter

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
writer = TranscriptWriter("full", base=sys.argv[1])
written = [writer.append({"type": "user_message", "content": str(number) + "x" * 1_000}) for number in range(200)]
print(sum(written), writer.failures)
"""


def script(text: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", text, *map(str, arguments)]


def said(path: Path) -> Iterator[tuple[str, int]]:
    """Who wrote each event of the file, and the how-manieth of its own it was."""
    for event in read_events(path):
        whose, number, _ = event.fields["content"].split(" ", 2)
        yield whose, int(number)


@pytest.mark.parametrize(
    ("processes", "threads", "events", "layout"),
    [(1, 10, EVENTS, "lines"), (4, 1, EVENTS, "lines"), (4, 3, EVENTS, "lines"), (2, 2, 20, "array")],
)
def test_many_writers_at_once_lose_nothing_and_keep_their_order(
    processes: int, threads: int, events: int, layout: str, tmp_path: Path
) -> None:
    commands = [script(WRITE, tmp_path, process, threads, events, layout) for process in range(processes)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    failures = [int(process.communicate()[0]) for process in running]

    path = tmp_path / "shared" / "transcript.json"
    assert failures == [0] * processes
    assert layout == "array" or all(orjson.loads(line) for line in path.read_bytes().splitlines())
    found = list(said(path))
    assert Counter(whose for whose, _ in found) == {
        f"{process}.{thread}": events for process in range(processes) for thread in range(threads)
    }
    for whose in {whose for whose, _ in found}:
        assert [number for writer, number in found if writer == whose] == list(range(events))


def test_a_killed_writer_leaves_one_torn_line_at_worst(tmp_path: Path) -> None:
    """A kill -9 at a moment that nobody chose, each time into the same file."""
    path = tmp_path / "killed" / "transcript.json"
    chance = Random(20260101)
    grown = [chance.randrange(1, 3_000_000) for _ in range(ROUNDS)]
    for turn in range(ROUNDS):
        enough = grown[turn] + (path.stat().st_size if path.exists() else 0)
        with subprocess.Popen(script(WRITE_FOR_EVER, tmp_path, turn)) as process:
            wait_until(lambda size=enough: path.exists() and path.stat().st_size > size, "the file to grow", pause=SOON)
            process.kill()
        assert process.returncode == -SIGKILL
    assert TranscriptWriter("killed", base=tmp_path).append({"type": "user_message", "content": "end 0 ."})

    transcript = read_transcript(path)
    found = list(said(path))
    print(f"{ROUNDS} writers killed: {len(found)} events read, {len(transcript.problems)} lines torn")
    for turn in range(ROUNDS):
        own = [number for whose, number in found if whose == str(turn)]
        assert own == list(range(len(own)))
        assert own or grown[turn] < LONGEST_EVENT  # it may have been killed within its first
    assert found[-1] == ("end", 0)
    assert len(transcript.problems) <= ROUNDS
    assert len(transcript.problems) + len(found) == len(path.read_bytes().splitlines())


def test_a_full_disk_is_counted_and_leaves_whole_lines(tmp_path: Path) -> None:
    done = subprocess.run(script(WRITE_UNTIL_IT_IS_FULL, tmp_path), capture_output=True, text=True, check=True)

    written, failures = map(int, done.stdout.split())
    lines = (tmp_path / "full" / "transcript.json").read_bytes().splitlines(keepends=True)
    assert 0 < written < 200
    assert written + failures == 200
    assert len(lines) == written
    assert all(line.endswith(b"\n") and orjson.loads(line) for line in lines)
    assert "could not be written" in done.stderr
