"""A server behind TLS: with an authority of one's own, with client certificates, and what is not trusted is refused."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from builders.command_line import Nous, command_line
from builders.tls import authority, certificate, speaking_tls
from builders.waiting import wait_until

from nous.app.container import build
from nous.app.worker_process import worker_process
from nous.domain.errors import Unavailable
from nous.redis_server import embedded
from nous.redis_server.client import connect, connect_rq
from nous.redis_server.data_dir import locate
from nous.settings.model import Settings


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
def guarded(home: Path, ca: Path) -> Iterator[int]:
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
    container = build(Settings(redis_url=url, embedder="hashed"))
    crew = worker_process(container, sorted(container.workers), open_quarantine=lambda _: None)
    crew.start()
    try:
        wait_until(lambda: "session by-tls" in nous("episodes").stdout, "an episode", pause=0.2)
    finally:
        crew.stop()
        crew.wait()
        for client in (container.client, container.rq_client):
            client.connection_pool.disconnect()


def test_a_certificate_of_nobody_known_is_refused(port: int, other_ca: Path) -> None:
    for url in (f"rediss://localhost:{port}/0", f"rediss://localhost:{port}/0?ssl_ca_certs={other_ca}"):
        told = _refusal(url)

        assert f"no server answers at rediss://localhost:{port}/0" in told
        assert "certificate verify failed" in told


def test_a_client_certificate_lets_in_and_without_one_or_with_a_strange_one_nobody_comes_in(
    guarded: int, ca: Path, other_ca: Path
) -> None:
    url = f"rediss://localhost:{guarded}/0?ssl_ca_certs={ca}"
    ours, ours_key = certificate(ca, "client")
    theirs, theirs_key = certificate(other_ca, "client")

    client = connect(Settings(redis_url=f"{url}&ssl_certfile={ours}&ssl_keyfile={ours_key}"))
    assert client.ping()
    client.connection_pool.disconnect()
    assert "redis_url" in _refusal(url)
    assert "redis_url" in _refusal(f"{url}&ssl_certfile={theirs}&ssl_keyfile={theirs_key}")
