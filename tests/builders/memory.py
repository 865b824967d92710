"""What processes take of the machine's memory."""

from pathlib import Path


def pss(pid: int) -> float:
    """Megabytes, pages that processes share divided among them; 0 when the process has gone."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return int(rollup.partition("\nPss:")[2].split()[0]) / 1024
