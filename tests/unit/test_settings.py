"""Settings: who beats whom, and what is refused."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nous.domain.errors import Misconfigured
from nous.settings import Settings, load, load_settings

EXAMPLE = Path(__file__).parents[2] / "config" / "nous.toml"

pytestmark = pytest.mark.usefixtures("nowhere")

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        path = tmp_path / "some.toml"
        path.write_text(text)
        return path

    return write


def test_without_file_or_variable_everything_is_at_its_default() -> None:
    assert load_settings() == Settings()


def test_the_shipped_file_says_exactly_the_defaults() -> None:
    assert load_settings(EXAMPLE) == Settings()


def test_the_shipped_file_mentions_every_setting() -> None:
    written = EXAMPLE.read_text()
    rows = list(load(EXAMPLE).rows())
    stated = {key for key, _, origin in rows if origin == str(EXAMPLE)}
    optional = {
        key
        for key, value, _ in rows
        if value is None and re.search(rf"^# ({key}|{key.rpartition('.')[2]}) = ", written, re.MULTILINE)
    }

    assert stated | optional == {key for key, _, _ in rows}


def test_the_shipped_file_gives_a_reason_before_every_setting() -> None:
    blocks = [block.splitlines() for block in EXAMPLE.read_text().split("\n\n")]

    assert [block for block in blocks if not any(line.startswith("# ") for line in block)] == []


def test_a_variable_beats_the_file_and_the_file_the_default(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write('prefix = "file"\n[worker]\nconcurrency = 3\nlease = "2m"\n')
    monkeypatch.setenv("NOUS_WORKER__CONCURRENCY", "7")

    settings = load_settings(path)

    assert (settings.worker.concurrency, settings.worker.lease, settings.prefix) == (7, 120, "file")
    assert settings.worker.max_attempts == 5


def test_each_value_knows_where_it_came_from(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write('prefix = "file"\n[worker]\nlease = 5\n')
    monkeypatch.setenv("NOUS_WORKER__LEASE", "7")

    origins = {key: origin for key, _, origin in load(path).rows()}

    assert (origins["prefix"], origins["worker.lease"], origins["data_dir"]) == (str(path), "environment", "default")


def test_nous_config_names_the_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_CONFIG", str(write('prefix = "named"')))

    assert load_settings().prefix == "named"


def test_a_file_in_the_current_directory_comes_before_the_one_at_home(tmp_path: Path) -> None:
    at_home = tmp_path / "home" / ".config" / "nous" / "nous.toml"
    at_home.parent.mkdir(parents=True)
    at_home.write_text('prefix = "home"')
    assert load_settings().prefix == "home"

    Path("nous.toml").write_text('prefix = "here"')
    assert load_settings().prefix == "here"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("concurency = 1", "concurency .* is no setting"),
        ("concurrency = 1", "did you mean worker.concurrency"),
        ("[worker]\nleese = 1", "worker.leese .* did you mean worker.lease"),
        ("[wroker]\nlease = 1", "wroker .* did you mean worker"),
        ("[worker]\nlease = [1]", "worker.lease = .* number of seconds, or with a unit: 90s, 2m, 1h"),
        ("[worker]\nconcurrency = 0", "worker.concurrency = 0 .* greater than 0"),
        ("worker = 3", "worker = 3"),
        ('prefix = "a b"', "prefix = 'a b'"),
        ("prefix = ", "not valid TOML"),
        ('[excerpt]\nstrategy = "best"', r"excerpt\.strategy = 'best' .*default, spec"),
        ('[excerpt]\nunit = "words"', r"excerpt\.unit = 'words' .*'chars' or 'tokens'"),
        ("[excerpt]\nwindows = 0", r"excerpt\.windows = 0 .*greater than 0"),
        ('[retention]\nevents = "6d"', r"retention.events should be no less than retention.marker_ttl, 7d"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_with_its_place(text: str, complaint: str, write: Write) -> None:
    path = write(text)

    with pytest.raises(Misconfigured, match=complaint) as refusal:
        load_settings(path)
    assert str(path) in str(refusal.value)


def test_every_mistake_is_named_at_once(write: Write) -> None:
    with pytest.raises(Misconfigured, match=r"worker\.lease(.|\n)*excerpt\.budget"):
        load_settings(write('[worker]\nlease = "soon"\n[excerpt]\nbudget = "much"\n'))


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_refused_by_name(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(Misconfigured, match=re.escape(str(path))):
        load_settings(path)


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("NOUS_WORKER_LEASE", "1", "did you mean NOUS_WORKER__LEASE"),
        ("NOUS_NONSENSE", "1", "NOUS_NONSENSE in the environment"),
        ("NOUS_WORKER__LEASE", "long", "worker.lease = 'long' in environment"),
        ("NOUS_LLM__PATIENCE", "soon", "llm.patience = 'soon' in environment: should be a number of seconds, or .* 2m"),
        ("NOUS_RETENTION__MARKER_TTL", "1.5", "valid integer"),
        ("NOUS_LLM__CONCURRENCY", "2m", "valid integer"),
        ("NOUS_WORKER", "{}", "NOUS_WORKER in the environment is no setting"),
    ],
)
def test_what_is_wrong_in_the_environment_is_named(
    variable: str, value: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(Misconfigured, match=complaint):
        load_settings()


@pytest.mark.parametrize("variable", ["NOUS_PORT_6379_TCP_ADDR", "NOUS_SERVICE_HOST", "NOUS_REDIS_SERVICE_PORT_MAIN"])
def test_variables_that_kubernetes_sets_for_a_service_are_not_settings(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "10.0.0.1")

    assert load_settings() == Settings()


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_REDIS_URL", "")

    assert load_settings().redis_url == "embedded:"


def test_a_complaint_about_the_url_does_not_print_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_REDIS_URL", "http://me:geheim@host")

    with pytest.raises(Misconfigured, match="redis_url") as refusal:
        load_settings()
    assert "geheim" not in str(refusal.value)
    assert "geheim" not in repr(Settings(redis_url="redis://:geheim@host"))


@pytest.mark.parametrize(("written", "seconds"), [('"90s"', 90), ('"5m"', 300), ('"1.5h"', 5400), ('"7d"', 604800)])
def test_durations_may_carry_a_unit(written: str, seconds: float, write: Write) -> None:
    assert load_settings(write(f"[worker]\ndeadline = {written}")).worker.deadline == seconds


@pytest.mark.parametrize("written", ["/one:/other", '["/one", "/other"]'])
def test_folders_in_the_environment_are_written_as_in_path_or_as_json(
    monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("NOUS_WATCH__FOLDERS", written)
    monkeypatch.setenv("NOUS_WORKER__READABLE", written)

    settings = load_settings()

    assert settings.watch.folders == settings.worker.readable == (Path("/one"), Path("/other"))


def test_data_lives_where_xdg_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert load_settings().data_dir == tmp_path / "nous"


def test_an_embedder_that_there_is_not_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_EMBEDDER", "foo")

    with pytest.raises(Misconfigured, match=r"'foo'.*minilm, hashed, or a provider.*NOUS_EMBEDDER"):
        load_settings()
