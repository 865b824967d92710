"""The way to a server that is not ours."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nous.domain.errors import Misconfigured, Unavailable
from nous.redis_server.client import address, connect, connect_rq, embedded_directory, masked
from nous.redis_server.data_dir import locate
from nous.settings import Settings

NOBODY = "redis://somebody:geheim@127.0.0.1:1/0"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:geheim@host:6379/0", "redis://:***@host:6379/0"),
        ("rediss://user:ge:he@im@host", "rediss://user:***@host"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("unix:///tmp/a.sock?password=geheim&db=1", "unix:///tmp/a.sock?password=***&db=1"),
        ("embedded:/some/dir", "embedded:/some/dir"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert masked(url) == shown


@pytest.mark.parametrize("url", [NOBODY, NOBODY.replace("redis:", "rediss:")])
@pytest.mark.parametrize("make", [connect, connect_rq])
def test_a_server_that_does_not_answer_is_unavailable_and_its_password_untold(
    make: Callable[[Settings], object], url: str
) -> None:
    with pytest.raises(Unavailable, match=r"somebody:\*\*\*@127\.0\.0\.1:1.*redis_url") as failure:
        make(Settings(redis_url=url))
    assert "geheim" not in str(failure.value)


def test_a_url_with_an_option_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(Misconfigured, match="redis_url"):
        connect(Settings(redis_url="redis://127.0.0.1:1/?max_connections=many"))


def test_an_embedded_server_lives_in_the_data_directory_unless_told_otherwise(tmp_path: Path) -> None:
    assert embedded_directory(Settings(data_dir=tmp_path)) == tmp_path
    assert embedded_directory(Settings(data_dir=tmp_path, redis_url="embedded:/other")) == Path("/other")


def test_asking_for_the_address_starts_and_makes_nothing(tmp_path: Path) -> None:
    assert address(Settings(data_dir=tmp_path / "data")).startswith("unix:///")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_has_one_address_by_whatever_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert locate(tmp_path / "link") == locate(tmp_path / "real" / ".." / "real")
