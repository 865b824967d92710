"""Certificates of an authority of one's own, and a way that speaks TLS before a server that does not."""

import gc
import shutil
import ssl
import subprocess
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from builders.proxy import Proxy


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
    with Proxy(target, tls=context) as proxy:
        yield proxy.port
    with warnings.catch_warnings():
        # A handshake that the end cuts off leaves its connection to the collector, and the warning to a later test.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
