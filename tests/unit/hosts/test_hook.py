"""The hook: it spools, prints what was prepared, and is never noticed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nous.domain.errors import BadInput
from nous.domain.scope import Scope
from nous.hosts import hook, hosts
from nous.hosts.install import Installer
from nous.hosts.spool import FAILED, Spool, SpooledHook
from nous.services.workspace import NotesFolder, workspace_of
from nous.transcript import read_transcript

START = {"session_id": "5f1c-22", "transcript_path": "/t.jsonl", "cwd": "/", "hook_event_name": "SessionStart"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory as `nous install` prepares it."""
    home = tmp_path / "data"
    for folder in ("spool", "context"):
        (home / folder).mkdir(parents=True)
    shutil.copyfile(hook.__file__, home / "hook.py")
    (home / "spool" / FAILED).touch()
    os.utime(home / "spool" / FAILED, (0, 0))
    return home


def ran(home: Path, *arguments: str, payload: bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", str(home / "hook.py"), *arguments]
    return subprocess.run(command, input=payload, capture_output=True, check=False, env=os.environ | environment)


def was_not_noticed(result: subprocess.CompletedProcess[bytes]) -> bool:
    return (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_it_spools_what_it_gets(home: Path) -> None:
    assert was_not_noticed(ran(home, "claude-code", "SessionEnd", payload=json.dumps(START).encode()))

    [file] = Spool(home / "spool").waiting()
    spooled = SpooledHook.read(file.read_bytes())
    assert (spooled.host, spooled.event, spooled.payload) == ("claude-code", "SessionEnd", START)
    assert (file.stat().st_mode & 0o777, abs(spooled.received_at / 1e9 - file.stat().st_mtime) < 60) == (0o600, True)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"[]", "no JSON object"),
        (b"\xff\x00", "no JSON"),
        (b'"' + b"x" * (hook.LIMIT - 1), "no JSON"),
        (b"x" * (hook.LIMIT + 1), "larger than"),
        (b"x" * (5 * hook.LIMIT), "larger than"),
    ],
)
def test_garbage_is_spooled_for_the_count_and_nothing_is_printed(home: Path, payload: bytes, reason: str) -> None:
    assert was_not_noticed(ran(home, "claude-code", "SessionStart", "--notes", payload=payload))

    [file] = Spool(home / "spool").waiting()
    with pytest.raises(BadInput, match=reason):
        SpooledHook.read(file.read_bytes())


@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_a_torn_file_is_refused(home: Path, cut: int) -> None:
    ran(home, "claude-code", "SessionEnd", payload=json.dumps(START).encode())
    [file] = Spool(home / "spool").waiting()

    with pytest.raises(BadInput):
        SpooledHook.read(file.read_bytes()[:cut])


def test_two_hundred_hooks_at_once_leave_two_hundred_files(home: Path) -> None:
    payloads = [json.dumps(START | {"session_id": f"s{number}"}).encode() for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(ran, home, "claude-code", "SessionEnd", payload=payload) for payload in payloads]
    assert all(was_not_noticed(each.result()) for each in running)

    names = [SpooledHook.read(file.read_bytes()).payload["session_id"] for file in Spool(home / "spool").waiting()]
    assert sorted(names) == sorted(f"s{number}" for number in range(200))


def test_an_agent_does_not_notice_a_disk_without_room_but_nous_does(home: Path) -> None:
    spool = Spool(home / "spool")
    assert spool.failed_at() is None
    full = f"ulimit -f 0; exec {sys.executable} -I -S {home / 'hook.py'} claude-code SessionEnd"

    result = subprocess.run(["sh", "-c", full], input=b"{}" * 5000, capture_output=True, check=False)

    assert was_not_noticed(result)
    assert spool.failed_at() is not None
    assert [path.name for path in spool.folder.iterdir()] == [FAILED]


def test_an_agent_does_not_notice_that_nothing_is_installed_any_more(home: Path) -> None:
    shutil.rmtree(home / "spool")

    assert was_not_noticed(ran(home, "claude-code", "SessionEnd", payload=b"{}"))
    assert "FileNotFoundError" in (home / "hook.log").read_text()


def test_it_does_nothing_if_it_is_told_to(home: Path) -> None:
    assert was_not_noticed(ran(home, "claude-code", "SessionEnd", payload=b"{}", NOUS_DISABLED="1"))
    assert Spool(home / "spool").waiting() == []


Start = Callable[..., bytes]


@pytest.fixture
def start(home: Path) -> Start:
    """Runs the hook at a session's start in a folder, and returns what it prints."""

    def run(folder: Path, host: str = "claude-code", **payload: object) -> bytes:
        about = START | {"cwd": str(folder)} | payload
        result = ran(home, host, "SessionStart", "--notes", payload=json.dumps(about).encode())
        assert (result.returncode, result.stderr) == (0, b"")
        return result.stdout

    return run


def prepared(home: Path, folder: Path, **notes: bytes) -> Scope:
    """Keep notes ready for the workspace of *folder*, by host."""
    workspace = workspace_of(folder)
    NotesFolder(home / "context").see(workspace)
    NotesFolder(home / "context").put(workspace.scope, {name.replace("_", "-"): text for name, text in notes.items()})
    return workspace.scope


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


def test_notes_of_a_repository_are_printed_in_all_of_its_folders(home: Path, tmp_path: Path, start: Start) -> None:
    shop = repository(tmp_path / "shop")
    prepared(home, shop, claude_code=b"claude's", codex=b"codex's")

    assert start(shop) == start(shop / "src" / "deep") == b"claude's"
    assert start(shop, "codex") == b"codex's"
    assert start(tmp_path) == start(shop, "gemini") == b""


def test_notes_of_a_session_that_was_compacted_go_first(home: Path, tmp_path: Path, start: Start) -> None:
    shop = repository(tmp_path / "shop")
    scope = prepared(home, shop)
    NotesFolder(home / "context").put(scope, {"claude-code": b"any", "5f1c-22.claude-code": b"mine"})

    assert start(shop) == b"mine"
    for other in ("other", "../5f1c-22", 5, None):
        assert start(shop, session_id=other) == b"any"


def test_projects_never_mix(home: Path, tmp_path: Path, start: Start) -> None:
    outer = repository(tmp_path / "home")
    prepared(home, outer, claude_code=b"outer")
    inner = repository(outer / "inner")
    own = outer / "own"
    own.mkdir()
    (own / ".nous.toml").write_text('scope = "own"')

    assert start(inner) == start(inner / "src") == start(own) == b""
    assert start(outer / "docs") == b"outer"


def test_notes_of_a_folder_without_a_repository_are_for_it_alone(home: Path, tmp_path: Path, start: Start) -> None:
    prepared(home, tmp_path, claude_code=b"notes")

    assert start(tmp_path) == b"notes"
    assert start(tmp_path / "below") == b""


def test_sub_agents_and_claude_hooks_run_by_cursor_get_no_notes(home: Path, tmp_path: Path, start: Start) -> None:
    prepared(home, tmp_path, claude_code=b"claude's", cursor=b"cursor's")

    assert start(tmp_path, agent_id="a1") == start(tmp_path, is_background_agent=True) == b""
    assert start(tmp_path, cursor_version="3") == b""
    assert start(tmp_path, "cursor", cursor_version="3", cwd=None, workspace_roots=[str(tmp_path)]) == b"cursor's"


ID = "ses_7f3a"
SESSION = {"id": ID, "directory": "/home/dev/shop", "title": "Ports", "time": {"created": 1795770843512}}
MESSAGES = [
    {
        "info": {"id": f"msg_{role}", "sessionID": ID, "role": role, "time": {"created": 1795770843512}},
        "parts": [{"id": f"prt_{role}", "messageID": f"msg_{role}", "sessionID": ID, "type": "text", "text": text}],
    }
    for role, text in (("user", "Which port does billing use?"), ("assistant", "Billing listens on port 9017."))
]
PLAY = """
const { NousPlugin } = await import(process.argv[2])
const session = JSON.parse(process.argv[3]), messages = JSON.parse(process.argv[4])
const client = { session: { get: async () => ({ data: session }), messages: async () => ({ data: messages }) } }
const plugin = await NousPlugin({ client, directory: process.argv[5] })
const system = [], context = []
await plugin["experimental.chat.system.transform"]({ sessionID: session.id }, { system })
await plugin["experimental.chat.system.transform"]({}, { system })
await plugin.event({ event: { type: "session.idle", properties: { sessionID: session.id } } })
await plugin["experimental.session.compacting"]({ sessionID: session.id }, { context })
console.log(JSON.stringify({ system, context }))
"""


@pytest.fixture
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    return found


@pytest.fixture
def installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installer:
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(tmp_path / 'a "config"'))
    installer = Installer(home=tmp_path / "data", python=sys.executable, server=("/nous/python", "-m", "nous", "mcp"))
    installer.prepare()
    return installer


def played(node: str, installer: Installer, project: Path, session: Any = SESSION) -> dict[str, list[str]]:
    for change in installer.installation(hosts()["opencode"]):
        installer.apply(change)
    plugin = installer.home / "nous.mjs"
    shutil.copyfile(hosts()["opencode"].folder / "plugins" / "nous.js", plugin)
    script = installer.home / "play.mjs"
    script.write_text(PLAY)
    command = [node, str(script), str(plugin), json.dumps(session), json.dumps(MESSAGES), str(project)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_a_session_is_reported_at_each_turn_and_gets_notes(
    node: str, installer: Installer, tmp_path: Path, wait_until: Any
) -> None:
    workspace, notes = workspace_of(tmp_path / "shop"), NotesFolder(installer.home / "context")
    (tmp_path / "shop").mkdir()
    notes.see(workspace)
    notes.put(workspace.scope, {"opencode": hosts()["opencode"].printed("what is known")})

    said = played(node, installer, tmp_path / "shop")

    assert said == {"system": ["what is known"], "context": ["what is known"]}
    spool = Spool(installer.home / "spool")
    wait_until(lambda: len(spool.waiting()) == 3, "three reports")
    reports = [SpooledHook.read(path.read_bytes()) for path in spool.waiting()]
    assert sorted(each.event for each in reports) == ["session.compacting", "session.created", "session.idle"]
    [path] = {each.payload["transcript_path"] for each in reports if each.event != "session.created"}
    transcript = read_transcript(path)
    assert transcript.header.session_id == ID
    assert [entry.text for entry in transcript] == ["Which port does billing use?", "Billing listens on port 9017."]


def test_a_sub_agent_is_left_out(node: str, installer: Installer, tmp_path: Path) -> None:
    played(node, installer, tmp_path, {**SESSION, "parentID": "ses_1"})

    assert not (installer.home / "sessions").exists()


def test_it_is_a_file_of_its_own_that_goes_again(installer: Installer) -> None:
    host = hosts()["opencode"]
    for change in installer.installation(host, mcp=True):
        installer.apply(change)
    assert installer.installation(host, mcp=True) == []
    entry = json.loads((host.folder / "opencode.json").read_text())["mcp"]["nous"]
    assert entry == {"type": "local", "command": ["/nous/python", "-m", "nous", "mcp"], "enabled": True}

    for change in installer.removal(host):
        installer.apply(change)

    assert [path for path in host.folder.rglob("*") if path.is_file()] == []
