"""Settings of hosts: what is added, that nothing else changes, and that it can be taken out again."""

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nous.domain.errors import BadInput
from nous.hosts import hosts
from nous.hosts.install import Installer
from nous.hosts.json_edit import parsed, with_item, without_items

NAMES = sorted(name for name, host in hosts().items() if not host.plugin)

AWKWARD = {
    "absent": None,
    "empty": "",
    "blank": "\n\n",
    "an empty object": "{}",
    "no line end": '{"model": "opus"}',
    "comments": '// mine\n{\n  /* why */\n  "model": "opus", // here\n  // the end\n}\n',
    "trailing commas": '{\n  "hooks": {\n    "Stop": [\n      {"hooks": []}, // mine\n    ],\n  },\n}\n',
    "tabs": '{\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}\n',
    "line ends of Windows": '{\r\n    "hooks": {},\r\n    "model": "opus"\r\n}\r\n',
    "a byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "one line": '{"hooks":{"Stop":[{"hooks":[{"command":"say \\"done\\" // no comment"}]}]},"a":[1,2]}',
    "hooks of others": json.dumps(
        {"hooks": {name: [{"hooks": [{"type": "command", "command": "x"}]}] for name in ("SessionEnd", "Stop")}},
        indent=4,
    ),
    "text of other languages": '{\n  "greeting": "grüß dich, 世界 \\ud83d\\ude00",\n  "hooks": {}\n}\n',
    "comments before commas": '{\n "hooks": {\n "o": [] // x\n ,\n },\n "a": 1, // see [docs]\n "b": 2 /* , */\n}',
    "a comment alone": '{"hooks": {"Stop": [ // mine\n ]}}',
    "keys twice": '{"a": 1, "a": 2}\n',
    "strings like braces": '{\n  "a": "}{][,//",\n  "b": "\\"}"\n}\n',
}

MALFORMED = {
    "cut": ('{\n  "hooks": {\n', "line 3"),
    "no object": ("[]", "line 1"),
    "nested too deeply": (f'{{"a": {"[" * 9999}{"]" * 9999}}}', "it cannot be read"),
    "two commas": ('{\n  "a": 1,,\n  "b": 2\n}', "line 2"),
    "hooks as a list": ('{\n  "model": "opus",\n  "hooks": []\n}', "line 3"),
    "an event as text": ('{\n  "hooks": {\n "SessionStart": "x", "sessionStart": ""}\n}', "line 3"),
    "a value alone": ("null", "line 1"),
}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user."""
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    for host in hosts().values():
        monkeypatch.delenv(host.home_variable or "HOST_HOME", raising=False)
    return tmp_path / "ann"


@pytest.fixture
def installer(user: Path) -> Installer:
    installer = Installer(
        home=user / "of nous", python="/usr/bin/python3", server=("/nous/python", "-m", "nous", "mcp")
    )
    installer.prepare()
    return installer


def files(user: Path) -> dict[str, bytes]:
    """Every file of the user but those of nous."""
    found = [path for path in user.rglob("*") if path.is_file() and "of nous" not in path.parts]
    return {str(path.relative_to(user)): path.read_bytes() for path in found}


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("mcp", [False, True])
def test_what_is_installed_is_complete_and_uninstalls_byte_for_byte(
    name: str, case: str, *, mcp: bool, user: Path, installer: Installer
) -> None:
    host, text = hosts()[name], AWKWARD[case]
    for path in {host.settings, host.mcp_settings}:
        if text is not None and not path.endswith(".toml"):
            written(Path(os.path.normpath(host.folder / path)), text)
    before = files(user)

    for change in installer.installation(host, mcp=mcp):
        installer.apply(change)

    settings = parsed((host.folder / host.settings).read_bytes().decode())
    kept = parsed(text or "")
    assert {key: value for key, value in settings.items() if key in kept and key not in {"hooks", "mcpServers"}} == {
        key: value for key, value in kept.items() if key not in {"hooks", "mcpServers"}
    }
    for event in host.hooks:
        *others, ours = settings["hooks"][event]
        assert others == kept.get("hooks", {}).get(event, [])
        assert f"'{installer.script}' {name} {event}" in json.dumps(ours)
    assert installer.installation(host, mcp=mcp) == []

    for change in installer.removal(host):
        installer.apply(change)

    assert files(user) == before
    assert installer.removal(host) == []


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_refused_with_its_line_and_stays(case: str, user: Path, installer: Installer) -> None:
    text, line = MALFORMED[case]
    host = hosts()["claude-code"]
    path = written(host.folder / host.settings, text)

    with pytest.raises(BadInput, match=rf"{path}: {line}"):
        installer.installation(host)

    assert files(user) == {".claude/settings.json": text.encode()}


def test_a_file_that_is_no_text_is_refused(installer: Installer) -> None:
    host = hosts()["claude-code"]
    written(host.folder / host.settings, "").write_bytes(b'{"a": "\xff"}')

    with pytest.raises(BadInput, match="byte 7 is not UTF-8"):
        installer.installation(host)


def test_a_read_only_file_is_refused(installer: Installer) -> None:
    host = hosts()["codex"]
    written(host.folder / host.settings, "{}").chmod(0o444)

    with pytest.raises(BadInput, match="read-only"):
        installer.installation(host)


def test_a_file_is_changed_where_a_symbolic_link_leads(user: Path, installer: Installer) -> None:
    host, own = hosts()["claude-code"], written(user / "dotfiles" / "claude.json", '{"model": "opus"}')
    own.chmod(0o640)
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").symlink_to(own)

    for change in installer.installation(host):
        installer.apply(change)

    assert (user / ".claude" / "settings.json").is_symlink()
    assert (own.stat().st_mode & 0o777, "hooks" in parsed(own.read_text())) == (0o640, True)


def test_what_was_added_since_stays_when_the_hook_goes(installer: Installer) -> None:
    host = hosts()["claude-code"]
    path = written(host.folder / host.settings, '{\n  "model": "opus" // mine\n}\n')
    for change in installer.installation(host):
        installer.apply(change)
    path.write_text(path.read_text().replace('"opus"', '"sonnet"'))

    for change in installer.removal(host):
        installer.apply(change)

    assert "sonnet" in path.read_text()
    assert "// mine" in path.read_text()
    assert "hook.py" not in path.read_text()
    assert parsed(path.read_text())["hooks"] == {event: [] for event in host.hooks}


def test_a_hook_that_was_added_to_our_entry_stays(installer: Installer) -> None:
    host = hosts()["claude-code"]
    path = host.folder / host.settings
    for change in installer.installation(host):
        installer.apply(change)
    settings = json.loads(path.read_text())
    mine = {"type": "command", "command": f"cp {installer.script}.bak /backup"}
    settings["hooks"]["Stop"][0]["hooks"].append(mine)
    path.write_text(json.dumps(settings))

    for change in installer.removal(host):
        installer.apply(change)

    assert json.loads(path.read_text())["hooks"]["Stop"] == [{"hooks": [mine]}]
    assert str(installer.script) not in path.read_text().replace(mine["command"], "")


def test_another_interpreter_replaces_the_hook_and_the_original_comes_back(installer: Installer) -> None:
    host, original = hosts()["gemini"], '{"hooks": {"AfterAgent": [{"hooks": []}]}}'
    path = written(host.folder / host.settings, original)
    newer = Installer(home=installer.home, python="/usr/bin/python4", server=installer.server)
    for each in (installer, newer):
        for change in each.installation(host, mcp=True):
            each.apply(change)

    assert path.read_text().count("/usr/bin/python4") == len(host.hooks)
    assert "/usr/bin/python3" not in path.read_text()

    for change in newer.removal(host):
        newer.apply(change)

    assert path.read_text() == original


def test_a_project_has_settings_of_its_own(user: Path, installer: Installer, tmp_path: Path) -> None:
    host = hosts()["claude-code"]
    for change in installer.installation(host, project=tmp_path / "shop", mcp=True):
        installer.apply(change)

    assert (tmp_path / "shop" / ".claude" / "settings.local.json").is_file()
    assert json.loads((tmp_path / "shop" / ".mcp.json").read_text())["mcpServers"]["nous"]["command"] == "/nous/python"
    assert files(user) == {}


@pytest.mark.parametrize(
    "text", ["", 'model = "o"\n', '# mine\n[mcp_servers.other]\ncommand = "x"\n', "a = 1 # no end"]
)
def test_a_server_is_added_to_toml_and_taken_out_again(text: str, installer: Installer) -> None:
    host = hosts()["codex"]
    path = written(host.folder / host.mcp_settings, text)

    for change in installer.installation(host, mcp=True):
        installer.apply(change)

    assert tomllib.loads(path.read_text())["mcp_servers"]["nous"]["args"] == ["-m", "nous", "mcp"]
    assert installer.installation(host, mcp=True) == []
    for change in installer.removal(host):
        installer.apply(change)
    assert path.read_text() == text


def test_a_server_of_that_name_which_is_not_ours_is_left_alone(installer: Installer) -> None:
    host = hosts()["cursor"]
    written(host.folder / host.mcp_settings, '{"mcpServers": {"nous": {"command": "mine"}}}')

    with pytest.raises(BadInput, match="another server called nous"):
        installer.installation(host, mcp=True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    settings=st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3),
    hooks=st.none() | st.dictionaries(st.sampled_from(["Start", "Other"]), st.lists(VALUES, max_size=3), max_size=2),
    indent=st.none() | st.integers(0, 4) | st.just("\t"),
    separators=st.sampled_from([None, (",", ":"), (" , ", " : ")]),
)
def test_an_item_that_is_added_and_taken_out_changes_no_value(
    settings: dict[str, object], hooks: dict[str, list[object]] | None, indent: int, separators: tuple[str, str] | None
) -> None:
    before = settings if hooks is None else {**settings, "hooks": hooks}
    text = json.dumps(before, indent=indent, separators=separators)
    item = {"command": "ours"}

    added = with_item(text, ("hooks", "Start"), item)
    removed = without_items(added, ("hooks", "Start"), lambda value: value == item)

    there = (hooks or {}).get("Start", [])
    assert parsed(added) == {**before, "hooks": {**(hooks or {}), "Start": [*there, item]}}
    assert parsed(removed) == {**before, "hooks": {**(hooks or {}), "Start": there}}
