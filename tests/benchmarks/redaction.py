"""CPU of redaction and of the checks for instructions; replacements in sessions without secrets.

    python tests/benchmarks/redaction.py [--list] [FILE...]

CPU time, in the same run as the work without them. Without files: the sessions in ../shared/data, if they are there.
`--list` prints everything that was replaced, so that you can judge whether it was a secret.
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import TypeVar

from common.measure import DATA, content, cpu

from nous.domain.errors import BadInput
from nous.excerpt import windows
from nous.redaction.redactor import Redaction, Redactor
from nous.summary.heuristic.summarize import summarize
from nous.summary.llm.vetting import QuoteVetting
from nous.text.injection import aims, unquoted
from nous.transcript import Transcript, read_transcript
from nous.transcript.redact import redact_content, redact_transcript

T = TypeVar("T")

MEGABYTE = 1_000_000
NO_SESSIONS = {"gold", "retention", "facts", "embedding"}
WORST = ("a", "token ", "key=", "://", "-----BEGIN ", "password is ", "eyJ", "4 ", "secret: ", "curl -u ", "authkey=")
ORDERS = ("}\n", "https://a.example/", "\u201cword ", "according to ", "always ")
"""Texts that are repeated to make the input on which a pattern could be slowest."""


@dataclass
class Stages:
    """CPU seconds by stage, and what was replaced."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    replaced: Counter[str] = field(default_factory=Counter[str])
    characters: int = 0

    def timed(self, stage: str, work: Callable[[], T]) -> T:
        begun = process_time()
        result = work()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + process_time() - begun
        return result

    def session(self, transcript: Transcript, redactor: Redactor) -> None:
        """Take one session through all stages after reading."""
        redaction = Redaction(redactor)
        self.characters += sum(len(entry.text) for entry in transcript)
        redacted = self.timed("redact", lambda: redact_transcript(transcript, redaction))
        self.timed("excerpt", lambda: windows(redacted))
        made = self.timed("summarize", lambda: summarize(redacted))
        judge = QuoteVetting(redacted)
        self.timed("check", lambda: (judge.sorted_out(made.candidate_facts), judge.held_back(made.summary)))
        self.replaced.update(list(redaction.known))


def main(paths: Sequence[Path], *, is_listed: bool) -> None:
    redactor = Redactor()
    Redaction(redactor).text("warm up")
    by_session(paths, redactor, is_listed=is_listed)
    by_content(paths, redactor)
    worst(redactor)


def by_session(paths: Sequence[Path], redactor: Redactor, *, is_listed: bool) -> None:
    stages, count = Stages(), 0
    for path in paths:
        try:
            transcript = stages.timed("read", lambda path=path: read_transcript(path))
        except BadInput:
            continue
        stages.session(transcript, redactor)
        count += 1
    whole = sum(stages.seconds.values())
    print(f"{count} sessions, {stages.characters / MEGABYTE:.1f} million characters given out by readers")
    for stage, seconds in stages.seconds.items():
        print(f"  {stage:10} {seconds:7.2f} s CPU  {100 * seconds / whole:5.1f} %")
    hits = stages.replaced.total()
    print(f"replaced: {hits}, {hits / stages.characters * MEGABYTE:.2f} per million characters")
    for secret in stages.replaced if is_listed else ():
        print(f"  {secret[:100]!r}")


def by_content(paths: Sequence[Path], redactor: Redactor) -> None:
    contents = [content(path) for path in paths]
    megabytes = sum(map(len, contents)) / MEGABYTE
    begun = process_time()
    for each in contents:
        redact_content(each, Redaction(redactor))
    print(
        f"content that is sent: {(process_time() - begun) / megabytes * 1000:.0f} ms CPU per MB, of {megabytes:.1f} MB"
    )


def worst(redactor: Redactor) -> None:
    """Compare texts of one and of two megabytes: a rule is linear if twice as much takes twice as long."""
    for text in WORST:
        _compare(text, MEGABYTE, Redaction(redactor).text)
    for text in ORDERS:
        _compare(text, MEGABYTE // 50, lambda said: (aims(said), unquoted(said)))


def _compare(text: str, size: int, work: Callable[[str], object]) -> None:
    one, two = (cpu(work, text * (times * size // len(text))) for times in (1, 2))
    times = two / max(one, 0.001)
    print(
        f"  {text!r:22} repeated to {size / 1000:5,.0f} kB: {one:5.2f} s CPU; to twice that: {times:4.1f} times as long"
    )


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:] if argument != "--list"]
    found = given or sorted(path for path in DATA.rglob("*.json*") if not NO_SESSIONS & set(path.parts))
    if found:
        main(found, is_listed="--list" in sys.argv)
    else:
        print("redaction is not measured: there are no sessions, name some")
