"""Plug-ins of other distributions, found by their entry points."""

from collections.abc import Callable
from pathlib import Path

import pytest

import workers
from nous.app.container import discover
from nous.domain.errors import Misconfigured
from nous.domain.plug_ins import PlugIns
from nous.llm.http_model import PROVIDERS, known_providers
from nous.transcript import known_readers

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution with a module `its_plug_in` of the given code, and the given entry points."""

    def installed(code: str, entry_points: str) -> None:
        metadata = tmp_path / "greeter-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(entry_points)
        (tmp_path / "its_plug_in.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, "its_plug_in", raising=False)

    return installed


def test_a_worker_of_another_distribution_is_found_beside_the_built_in_ones(install: Install) -> None:
    code = """
from nous.domain.events import SessionEnded
from nous.pipeline.worker import Worker

WORKER = Worker("greeter", SessionEnded, lambda context: None)
"""
    install(code, "[nous.workers]\ngreeter = its_plug_in:WORKER\n")

    assert {"greeter", "episode-summarizer"} <= discover().keys()


def test_a_provider_of_another_distribution_can_be_chosen_by_name(install: Install) -> None:
    install("PROVIDER = object()\n", "[nous.providers]\nmycloud = its_plug_in:PROVIDER\n")

    assert "mycloud" in known_providers()
    assert type(PROVIDERS.load("mycloud")) is object


def test_a_reader_of_another_distribution_is_known_by_its_format(install: Install) -> None:
    install("class READER:\n    format = 'mylog'\n", "[nous.readers]\nmylog = its_plug_in:READER\n")

    assert "mylog" in known_readers()


@pytest.mark.parametrize("code", ["raise ValueError(0)", "raise SystemExit(0)"])
def test_a_file_in_the_folder_of_workers_that_fails_is_named(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.py").write_text(code)
    monkeypatch.setattr(workers, "__path__", [*workers.__path__, str(tmp_path)])

    with pytest.raises(Misconfigured, match=r"workers\.broken fails: \w+: 0"):
        discover()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("raise ValueError('boom')", "ValueError: boom"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("def (", "SyntaxError"),
        ("", "no attribute 'WORKER'"),
        ("WORKER = 'hello'", "no Worker: 'hello'"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_named_with_what_is_wrong(install: Install, code: str, why: str) -> None:
    install(f"{code}\n", "[nous.workers]\nbroken = its_plug_in:WORKER\n")

    with pytest.raises(Misconfigured, match=rf"'broken' of nous\.workers.*{why}"):
        discover()


def test_a_plug_in_does_not_take_the_name_of_a_built_in_worker(install: Install) -> None:
    code = """
from nous.domain.events import SessionEnded
from nous.pipeline.worker import Worker

WORKER = Worker("episode-summarizer", SessionEnded, lambda context: None)
"""
    install(code, "[nous.workers]\nepisode-summarizer = its_plug_in:WORKER\n")

    with pytest.raises(Misconfigured, match=r"two plug-ins .* workers called episode-summarizer"):
        discover()


def test_a_malformed_entry_point_is_said_to_be_one(install: Install) -> None:
    install("", "[nous.workers]\nhalf\n")

    with pytest.raises(Misconfigured, match="malformed entry_points"):
        discover()


def test_two_plug_ins_of_one_name_are_refused(install: Install) -> None:
    install("WORKER = object()\n", "[nous.workers]\nfact_extractor = its_plug_in:WORKER\n")

    with pytest.raises(Misconfigured, match="called fact_extractor"):
        PlugIns(workers, attribute="WORKER", group="nous.workers").names()
