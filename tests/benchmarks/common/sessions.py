"""Sessions that a gold file names: packed or not, or one run of a file of many."""

import json
import tempfile
from pathlib import Path

from nous.transcript import read_transcript
from nous.transcript.model import Transcript


def session_of(folder: Path, name: str) -> Transcript:
    """Read the file *name* of *folder*, packed or not; of a file of many, the run behind the `#`."""
    path, _, number = name.partition("#")
    file = folder / path
    if not number:
        return read_transcript(file if file.exists() else file.with_name(f"{file.name}.gz"))
    lines = file.read_text("utf-8").splitlines()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as one:
        one.write(json.dumps(json.loads(lines[int(number)])["messages"]))
        one.flush()
        return read_transcript(one.name)
