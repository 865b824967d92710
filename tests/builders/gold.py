"""A small folder of gold, in which every measure of `nous dev quality` has at least three items."""

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

GOLD = Path(__file__).parents[1] / "gold"
_SHARED = Path(__file__).parents[3] / "shared" / "data"
SAMPLES = _SHARED if _SHARED.is_dir() else GOLD
"""Real sessions by format: all of them beside the repository, or else the packed ones of the tests."""

Edit = Callable[[dict[str, Any]], dict[str, Any]]
SERVICES = ("billing", "search", "mailer")
SESSION = (
    "User: Please always run service {0} on port 901{1}, never on another one.\n\n"
    "Assistant: Done: service {0} now listens on port 901{1}.\n\n"
    "User: Thanks, that is all I needed."
)
TOPICS = ("the retry limit", "the owner of deploys", "the log level", "the backup hour")


def write_gold(folder: Path) -> Path:
    """Write every kind of gold into *folder*; return it."""
    (folder / "sessions").mkdir(parents=True)
    for number, name in enumerate(SERVICES):
        (folder / "sessions" / f"{name}.txt").write_text(SESSION.format(name, number))
    for kind, row_of in {"episodes": _session, "lessons": _lesson, "quotes": _quotes}.items():
        write_rows(folder / "gold" / f"{kind}.jsonl", map(row_of, range(3), SERVICES))
    write_rows(folder / "gold" / "lessons_none.jsonl", [{**_lesson(0, name), "deserves": False} for name in SERVICES])
    write_rows(folder / "gold" / "pairs.jsonl", [_pair(label, name) for label in _PAIRS for name in SERVICES])
    said = [{"session": name, "fact": f"{topic} of {name} is documented"} for name in SERVICES for topic in TOPICS]
    (folder / "facts").mkdir()
    (folder / "facts" / "learnings.json").write_text(json.dumps(said))
    (folder / "retention").mkdir()
    packed = gzip.compress("\n".join(json.dumps(_excerpt(name)) for name in SERVICES).encode())
    (folder / "retention" / "own.jsonl.gz").write_bytes(packed)
    return folder


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def edited(path: Path, edit: Edit) -> None:
    """Apply *edit* to each row of *path*."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    write_rows(path, [{**row, **edit(row)} for row in rows])


def _session(number: int, name: str) -> dict[str, Any]:
    fact = f"Service {name} always runs on port 901{number}."
    return {
        "file": f"sessions/{name}.txt",
        "title": f"Run service {name} on port 901{number}",
        "outcome": "informational",
        "facts": [{"text": fact, "turns": [1], "level": "must"}],
        "not_facts": [{"text": f"{name} is written in Fortran.", "turns": [1], "reason": "invented"}],
        "answers": [{"question": "Which port?", "answer": f"Port 901{number} for service {name}.", "turns": [1]}],
    }


def _lesson(number: int, name: str) -> dict[str, Any]:
    lesson = f"Service {name} always runs on port 901{number}, never on another one."
    return {"file": f"sessions/{name}.txt", "deserves": True, "lesson": lesson, "turns": [1]}


def _quotes(number: int, name: str) -> dict[str, Any]:
    said = {"turn": 1, "quote": f"Please always run service {name} on port 901{number}"}
    return {"file": f"sessions/{name}.txt", "fact": 0, "quotes": [said]}


_PAIRS = {
    "same": ("The {} service listens on port 9017", "the {} service listens on port 9017."),
    "update": ("{} runs on Node 18", "{} no longer runs on Node 18, it runs on Node 20 now"),
    "apart": ("The {} service listens on port 9017", "The {} team meets on Mondays"),
}


def _pair(label: str, name: str) -> dict[str, Any]:
    one, other = (text.format(name) for text in _PAIRS[label])
    subject = {"subject": name} if label == "update" else {}
    return {"id": f"{label}-{name}", "a": {"text": one, **subject}, "b": {"text": other, **subject}, "label": label}


def _excerpt(name: str) -> dict[str, Any]:
    turns = [{"role": "user", "text": f"Please fix {name}."}, {"role": "assistant", "text": f"Fixed {name} in main."}]
    gold = [["user", "text", f"Please fix {name}."], ["ref_word", "word", "fixed"]]
    return {"turns": turns, "gold": gold, "chars": 20_000}
