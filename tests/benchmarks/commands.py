"""CPU of the commands that read memory, beside that of the imports that none of them can do without.

Prints the median CPU seconds of whole processes (user and system) over interleaved runs, and the ratio to the baseline.
The first line warns if Python may not write bytecode: then each command compiles everything that it imports.

    python tests/benchmarks/commands.py [ROUNDS]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

NOUS = (sys.executable, "-m", "nous")
SCOPE = ("--scope", "demo")
BASELINE = "import redis, pydantic, orjson, click"
COMMANDS = {
    BASELINE: (sys.executable, "-c", BASELINE),
    "import nous": (sys.executable, "-c", "import nous"),
    "nous facts": (*NOUS, "facts", *SCOPE),
    "nous context": (*NOUS, "context", *SCOPE),
    "nous status": (*NOUS, "status"),
    "nous search": (*NOUS, "search", "how are the tests run", *SCOPE),
}


def main(rounds: int) -> None:
    if sys.dont_write_bytecode:
        print("PYTHONDONTWRITEBYTECODE is set: the figures are too high")
    with tempfile.TemporaryDirectory() as folder:
        home = {**os.environ, "NOUS_DATA_DIR": folder}
        run((*NOUS, "demo", "--dir", folder), home)
        try:
            costs = [{name: cpu(command, home) for name, command in COMMANDS.items()} for _ in range(rounds + 1)][1:]
        finally:
            run((*NOUS, "down"), home)
    print(f"{'CPU s':>6}  {'ratio':>5}  command ({rounds} rounds, medians)")
    for name in COMMANDS:
        ratio = median(each[name] / each[BASELINE] for each in costs)
        print(f"{median(each[name] for each in costs):6.3f}  {ratio:5.2f}  {name}")


def cpu(command: tuple[str, ...], env: dict[str, str]) -> float:
    """Return the CPU seconds of a process. Other children of this one must not end meanwhile."""
    before = getrusage(RUSAGE_CHILDREN)
    run(command, env)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(command: tuple[str, ...], env: dict[str, str]) -> None:
    subprocess.run(command, env=env, check=True, capture_output=True, cwd=Path(env["NOUS_DATA_DIR"]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
