"""Hook that an agent runs: spool its payload, and print the notes prepared for its session.

Usage: python -I -S hook.py HOST EVENT [--notes], with the payload on standard input. `nous install` copies this file
into the data directory, next to the folders `spool` and `context`, and names it in the agent's settings.

It uses the standard library alone, never talks to a server, prints notes or nothing, and always exits with 0, since an
agent waits for it, and takes another code for an order to stop. What goes wrong is written to `hook.log`.
"""

import os
import sys
import time

LIMIT = 1 << 20
"""Bytes of a payload that are kept: a longer one is marked as cut, and refused when the spool is read."""

MAGIC = "nous-hook 1"


def main() -> None:
    """Run the hook in the folder of this file. Raises OSError, ValueError."""
    home, host, event = os.path.dirname(os.path.abspath(__file__)), sys.argv[1], sys.argv[2]
    payload = received()
    try:
        spool(home, host, event, payload)
    except BaseException:
        os.utime(os.path.join(home, "spool", "hook.failed"))  # needs no room on a full disk
        raise
    finally:
        if "--notes" in sys.argv:
            show(notes(home, host, payload))


def received() -> bytes:
    """Return what is on standard input, at most one byte more than the limit."""
    kept = b""
    while chunk := os.read(0, 1 << 16):
        kept += chunk[: LIMIT + 1 - len(kept)]
    return kept


def spool(home: str, host: str, event: str, payload: bytes) -> None:
    """Write a file, as a whole: a head of lines `name value`, an empty line, the payload."""
    now = time.time_ns()
    head = f"{MAGIC}\nhost {host}\nevent {event}\nreceived_at {now}\nbytes {len(payload)}\n\n"
    name = os.path.join(home, "spool", f"{now}-{os.getpid()}")
    file = os.open(f"{name}.part", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        rest = memoryview(head.encode(errors="replace") + payload)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.close(file)
        os.rename(f"{name}.part", f"{name}.hook")
    except OSError:
        os.unlink(f"{name}.part")
        raise


def notes(home: str, host: str, payload: bytes) -> bytes:
    """Return the notes of the session, or else of its workspace; empty if there are none.

    Sub-agents and background agents get none, nor does Cursor where it runs a hook of Claude Code.
    """
    import json  # noqa: PLC0415 (other events do without)

    about = json.loads(payload)
    is_of_claude_in_cursor = host != "cursor" and "cursor_version" in about
    if about.get("agent_id") or about.get("is_background_agent") or is_of_claude_in_cursor:
        return b""
    roots = about.get("workspace_roots") or [None]
    name = named(home, about.get("cwd") or roots[0] or os.getcwd())
    session = str(about.get("session_id") or about.get("sessionId"))
    for each in (f"{name}.{session}", name) if session.replace("-", "").replace("_", "").isalnum() else (name,):
        try:
            with open(os.path.join(home, "context", f"{each}.{host}"), "rb") as file:
                return file.read()
        except FileNotFoundError:
            continue
    return b""


def named(home: str, directory: str) -> str:
    """Return the name of the notes for *directory*; empty if its workspace is unknown.

    The file `context/roots` has a line for each known workspace: name, reach, folder, separated by tabs. One of reach
    `below` holds for the folders below it, up to the next repository or override; `all` for every folder.
    """
    known, roots = {}, os.path.join(home, "context", "roots")
    if not os.path.exists(roots):
        return ""
    with open(roots, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            name, reach, folder = line.rstrip("\n").split("\t")[:3]
            if reach == "all":
                return name
            known[folder] = name, reach
    folder = here = os.path.abspath(directory)
    while True:
        name, reach = known.get(folder, ("", ""))
        if name and (folder == here or reach == "below"):
            return name
        ends = any(os.path.lexists(os.path.join(folder, mark)) for mark in (".git", ".nous.toml"))
        if ends or folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)


def show(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


def log(error: BaseException) -> None:
    home = os.path.dirname(os.path.abspath(__file__))
    line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {' '.join(sys.argv[1:3])}: {type(error).__name__}: {error}\n"
    with open(os.path.join(home, "hook.log"), "a", encoding="utf-8") as file:
        file.write(line)


if __name__ == "__main__":
    try:
        if os.environ.get("NOUS_DISABLED") != "1":
            main()
    except BaseException as error:  # noqa: BLE001 (an agent must never notice)
        try:
            log(error)
        except BaseException:  # noqa: BLE001, S110
            pass
    os._exit(0)
