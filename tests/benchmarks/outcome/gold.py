"""Sessions of which somebody else has said how they ended.

*rewards*: runs of a service agent; the reward is 1 if the database was at the end as it had to be. That is also so
where the agent rightly refused, and there the user's request was not met.
*references*: parts of coding sessions with the summary that their owner committed, and with what that leaves open.
"""

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from excerpt.gold import transcript_of

from nous.actions import Action, writes
from nous.transcript import parse_transcript
from nous.transcript.model import Entry, Kind, Transcript

DATA = Path(__file__).parents[4] / "shared" / "data"
REWARDS = Path("openai_chat", "tau_airline_dev.jsonl")
REFERENCES = Path("retention", "reference_dev.jsonl.gz")
CODING = Path("retention", "coding_dev.jsonl.gz")

CARRIED_OUT, NOTHING_TO_DO, WENT_WRONG = "1 after a change", "1 without one", "0"
NONE_OPEN, OPEN = "nothing open", "open items"


@dataclass(frozen=True, slots=True)
class Case:
    """A session, the gold's word for how it ended, and whether that counts as done."""

    transcript: Transcript
    gold: str
    is_done: bool


def rewards(path: Path) -> tuple[Case, ...]:
    return tuple(_rewarded(row) for row in _rows(path))


def references(path: Path) -> tuple[Case, ...]:
    return tuple(_referenced(row) for row in _rows(path))


def sessions(path: Path) -> tuple[Transcript, ...]:
    """The transcripts of normalised sessions, whatever their gold."""
    return tuple(transcript_of(row["turns"]) for row in _rows(path))


def _rewarded(row: Mapping[str, Any]) -> Case:
    transcript = parse_transcript(orjson.dumps({"messages": row["messages"]}))
    is_done = row["reward"] == 1
    needed = any(_changes(action["name"]) for action in row["gold_actions"])
    gold = WENT_WRONG if not is_done else CARRIED_OUT if needed else NOTHING_TO_DO
    return Case(transcript, gold, is_done)


def _referenced(row: Mapping[str, Any]) -> Case:
    is_done = not row["reference_summary"].get("open_items")
    return Case(transcript_of(row["turns"]), NONE_OPEN if is_done else OPEN, is_done)


def _changes(tool: str) -> bool:
    call = Entry(kind=Kind.TOOL_CALL, text=tool, id="", tool=tool)
    return writes(Action(call, tool, "", ()))


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    yield from (orjson.loads(line) for line in text.splitlines() if line.strip())
