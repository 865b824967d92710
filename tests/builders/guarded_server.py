"""A server with the access list of deploy/acl, on which every user's password is the user's name."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import redis

from builders.waiting import wait_until

ACL = Path(__file__).parents[2] / "deploy" / "acl" / "nous.acl"
NO_PASSWORD = "#" + "0" * 64
"""What stands in that file where a password has to be put in."""


@dataclass(frozen=True)
class Guarded:
    """A server that asks who comes."""

    socket: Path

    def url(self, user: str) -> str:
        return f"unix://{user}:{user}@{self.socket}"

    def client(self, user: str) -> redis.Redis:
        return redis.Redis.from_url(self.url(user), protocol=2)

    def refused(self, user: str) -> set[str]:
        """What the server has refused to *user*, as its log has it."""
        return {f"{each['reason']} {each['object']}" for each in self._log() if each["username"] == user}

    def _log(self) -> list[dict[str, str]]:
        with redis.Redis.from_url(self.url("operator"), protocol=2, decode_responses=True) as client:
            return client.acl_log()  # pyright: ignore[reportReturnType]


@contextmanager
def guarded(program: Path, acl: str | None = None) -> Generator[Guarded]:
    """*program* with the access list *acl*, by default that of deploy/acl; gone when the test is."""
    with TemporaryDirectory(prefix="nous-") as home:
        (Path(home) / "acl").write_text(with_passwords(ACL.read_text()) if acl is None else acl)
        found = Guarded(Path(home) / "s")
        options = ["--port", "0", "--unixsocket", found.socket, "--aclfile", f"{home}/acl", "--dir", home, "--save", ""]
        command = [program, *options, "--appendonly", "yes", "--enable-debug-command", "yes"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
            try:
                wait_until(lambda: found.socket.exists() or server.poll() is not None, "the server to listen")
                yield found
            finally:
                server.kill()


def with_passwords(acl: str) -> str:
    """*acl* with each user's own name for a password."""
    lines = [(line, line.split()[1]) for line in acl.splitlines()]
    return "".join(f"{line.replace(NO_PASSWORD, f'>{user}')}\n" for line, user in lines)
