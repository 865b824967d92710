"""The plugin of OpenCode, run by node with a client that answers as OpenCode does."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nous.hosts import hosts
from nous.hosts.install import Installer
from nous.hosts.spool import Spool, SpooledHook
from nous.services.notes_folder import NotesFolder
from nous.services.workspace import workspace_of
from nous.transcript import read_transcript

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
