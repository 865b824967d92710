"""The files that run nous elsewhere: they parse, are safe, and name only what exists."""

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from nous.app.container import discover
from nous.cli import COMMANDS, DEVELOPER_COMMANDS
from nous.settings import Loaded, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def assert_it_runs(arguments: Iterable[str]) -> None:
    """Hold the arguments of `nous` to its commands, and those of `nous worker` to the workers; `%i` is any worker."""
    command, *rest = arguments
    assert command in {each.name for each in (*COMMANDS, *DEVELOPER_COMMANDS)}
    if command == "worker":
        assert rest
        assert rest == ["--all"] or set(rest) <= {*discover(), "%i"}


def assert_settings(names: Iterable[str]) -> None:
    known = {f"NOUS_{key.replace('.', '__').upper()}" for key, _, _ in Loaded(Settings(), None, {}).rows()}
    assert set(names) <= known


def test_the_page_starts_every_worker_there_is() -> None:
    [line] = re.findall(
        r"^systemctl enable --now nous-worker@\{(.*)\}$", (DEPLOY / "README.md").read_text(), re.MULTILINE
    )

    assert set(line.split(",")) == {*discover()}


def test_the_server_keeps_everything_on_disk_and_evicts_nothing() -> None:
    server = SERVICES["redis"]
    words = shlex.split(server["command"])
    options = dict(zip(words[1::2], words[2::2], strict=True))

    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"
    assert server["volumes"] == ["memory:/data"]
    assert "memory" in COMPOSE["volumes"]


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "redis"])
def test_a_container_runs_a_command_that_exists_once_the_server_is_healthy(name: str) -> None:
    service = SERVICES[name]

    assert_it_runs(service["command"])
    assert_settings(service["environment"])
    assert service["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert service["environment"]["NOUS_REDIS_URL"].startswith("redis://redis:")


def test_server_and_workers_tell_whether_they_are_well_and_no_port_is_open_to_other_machines() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]

    assert SERVICES["redis"]["healthcheck"]["test"][1:] == ["valkey-cli", "ping"]
    assert_it_runs(re.findall(r"nous (\w+)", SERVICES["worker"]["healthcheck"]["test"][1]))
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_the_image_is_built_from_what_exists_by_a_python_that_is_supported() -> None:
    sources = [source for copied in instructions("COPY") for source in copied.split()[:-1]]
    [base] = instructions("FROM")

    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert {"pyproject.toml", "nous", "workers"} <= set(sources)
    assert re.fullmatch(r"python:3\.1[1-4]-slim", base)


def test_the_image_runs_the_workers_and_not_as_root() -> None:
    assert instructions("USER") == ["nous"]
    assert DOCKERFILE.index("\nUSER") < DOCKERFILE.index("\nENTRYPOINT")
    assert [json.loads(text) for text in instructions("ENTRYPOINT")] == [["nous"]]
    assert_it_runs(json.loads(instructions("CMD")[0]))
    assert_settings(re.findall(r"(NOUS_\w+)=", DOCKERFILE))


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} +(.+)$", DOCKERFILE, re.MULTILINE)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_has_its_sections_and_runs_commands_that_exist(unit: Path) -> None:
    sections = parsed(unit)
    service = sections["Service"]

    assert list(sections) == ["Unit", "Service", "Install"]
    assert service["User"] == ["nous"]
    assert_settings(re.findall(r"(NOUS_\w+)=", " ".join(service["Environment"])))
    for line in service["ExecStart"] + service.get("ExecStopPost", []):
        program, *arguments = shlex.split(line)
        assert program == "/opt/nous/.venv/bin/nous"
        assert_it_runs(arguments)


def parsed(unit: Path) -> dict[str, dict[str, list[str]]]:
    """A unit's sections, with the values of each key in order; whatever is no section, assignment or comment fails."""
    sections: dict[str, dict[str, list[str]]] = {}
    for line in unit.read_text().splitlines():
        if header := re.fullmatch(r"\[(\w+)\]", line):
            sections[header[1]] = {}
        elif line and not line.startswith("#"):
            assigned = re.fullmatch(r"([A-Z]\w+)=(.+)", line)
            assert assigned, line
            sections[list(sections)[-1]].setdefault(assigned[1], []).append(assigned[2])
    return sections


def test_the_guide_names_every_file_and_every_link_leads_somewhere() -> None:
    links = set(re.findall(r"\]\(([^)]+)\)", (DEPLOY / "README.md").read_text()))

    assert [link for link in sorted(links) if not (DEPLOY / link).exists()] == []
    assert {path.name for path in DEPLOY.iterdir()} - {"README.md"} <= links
