"""Certificates of an authority of one's own, and a way that speaks TLS before a server that does not."""

import asyncio
import gc
import shutil
import ssl
import subprocess
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread

import pytest


def authority(folder: Path) -> Path:
    """The certificate of an authority that nobody knows; its key stands beside it. Skips the test without openssl."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    folder.mkdir()
    _openssl(folder, "req", "-x509", "-keyout", "key.pem", "-out", "crt.pem", "-subj", "/CN=An authority", *_NEW)
    return folder / "crt.pem"


def certificate(ca: Path, name: str, *, names: str = "DNS:localhost,IP:127.0.0.1") -> tuple[Path, Path]:
    """A certificate for *names* that *ca* has signed, and its key."""
    folder = ca.parent
    (folder / "names").write_text(f"subjectAltName={names}\n")
    _openssl(folder, "req", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}", *_NEW)
    signing = ("-CA", "crt.pem", "-CAkey", "key.pem", "-CAcreateserial", "-extfile", "names", "-days", "2")
    _openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.crt", *signing)
    return folder / f"{name}.crt", folder / f"{name}.key"


_NEW = ("-newkey", "rsa:2048", "-nodes")


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@contextmanager
def speaking_tls(target: Path, own: tuple[Path, Path], *, clients_of: Path | None = None) -> Generator[int]:
    """A port that speaks TLS with the certificate *own*, before the socket *target*.

    Those who come have to show a certificate of the authority *clients_of*, if there is one.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*own)
    if clients_of:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients_of)
    with _listening(target, context) as port:
        yield port


@contextmanager
def _listening(target: Path, context: ssl.SSLContext) -> Generator[int]:
    """One thread serves all connections: OpenSSL lets no two threads use one at a time."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    serving = asyncio.start_server(partial(_serve, target), "127.0.0.1", 0, ssl=context)
    server = asyncio.run_coroutine_threadsafe(serving, loop).result()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        with warnings.catch_warnings():
            # A handshake that the end cuts off leaves its connection to the collector, and the warning to a later test.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


async def _end(server: asyncio.Server) -> None:
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    # A TLS connection waits for its other side to close, and one may not have met its handler.
    for transport in list(vars(asyncio.get_running_loop())["_transports"].values()):
        transport.abort()
    await asyncio.sleep(0)


async def _serve(target: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    from_server, to_server = await asyncio.open_unix_connection(str(target))
    try:
        with suppress(asyncio.CancelledError):  # it is over, and the streams would tell of it
            await asyncio.gather(_pump(reader, to_server), _pump(from_server, writer))
    finally:
        writer.close()
        to_server.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(1 << 16):
            sink.write(chunk)
            await sink.drain()
    sink.close()
