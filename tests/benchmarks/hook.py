"""CPU of the hook that agents run, beside an interpreter that does nothing.

Usage: python tests/benchmarks/hook.py [RUNS]
"""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from nous.domain.scope import Scope
from nous.hosts import hook
from nous.services.workspace import NotesFolder, Workspace

PAYLOAD = {"session_id": "5f1c-22", "transcript_path": "/t.jsonl", "hook_event_name": "SessionStart"}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with TemporaryDirectory() as name:
        home = Path(name)
        for folder in ("spool", "context", "project/.git"):
            (home / folder).mkdir(parents=True)
        shutil.copyfile(hook.__file__, home / "hook.py")
        notes = NotesFolder(home / "context")
        workspace = Workspace(Scope(project="p"), home / "project", "git remote origin")
        notes.see(workspace)
        notes.put(workspace.scope, {"claude-code": b"x" * 9500})
        payload = json.dumps({**PAYLOAD, "cwd": str(home / "project")}).encode()
        python, script = [sys.executable, "-I", "-S"], str(home / "hook.py")
        base = measured([*python, "-c", "pass"], payload, runs)
        print(f"{'milliseconds of CPU':24} {'p50':>6} {'p95':>6} {'p50 / nothing':>14}")
        for what, command in (
            ("nothing", [*python, "-c", "pass"]),
            ("end of a session", [*python, script, "claude-code", "SessionEnd"]),
            ("start, with notes", [*python, script, "claude-code", "SessionStart", "--notes"]),
        ):
            found = base if what == "nothing" else measured(command, payload, runs)
            middle, late = found[runs // 2], found[runs * 95 // 100]
            print(f"{what:24} {middle:6.1f} {late:6.1f} {middle / base[runs // 2]:14.2f}")


def measured(command: Sequence[str], payload: bytes, runs: int) -> list[float]:
    """CPU of each run in milliseconds, sorted."""
    found: list[float] = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=payload, stdout=subprocess.DEVNULL, check=True, env={"PATH": os.defpath})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
    return sorted(found)


if __name__ == "__main__":
    main()
