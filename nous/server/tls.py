"""What goes wrong on a TLS way to a server before anything is said, and what to do about it."""

import ssl
from collections.abc import Mapping
from pathlib import Path

CLIENT = "?ssl_certfile=/path/crt.pem&ssl_keyfile=/path/key.pem"
"""How a URL names a certificate of one's own."""

_OF_CERTIFICATE = (
    ("Hostname mismatch", "connect by a name that stands in the certificate"),
    ("IP address mismatch", "connect by a name that stands in the certificate"),
    ("certificate has expired", "have it renewed"),
    ("", "name the certificate of its authority in redis_url: ?ssl_ca_certs=/path/ca.pem"),
)
_OF_TALK = {
    "CERTIFICATE_REQUIRED": f"name a client certificate in redis_url: {CLIENT}",
    "UNKNOWN_CA": "the server does not know who signed the client certificate (ssl_certfile)",
    "BAD_CERTIFICATE": "the server does not take the client certificate (ssl_certfile)",
    "HANDSHAKE_FAILURE": f"the server may want a client certificate: {CLIENT}",
}


_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")


def check_files(options: Mapping[str, object]) -> None:
    """Raises `ValueError` where a file is not there that *options*, of a URL, name: redis-py would blame the server."""
    for name in _FILES:
        if name in options and not Path(str(options[name])).is_file():
            raise ValueError(f"there is no file {options[name]} ({name})")


def trouble(error: BaseException) -> str | None:
    """What is wrong, and the remedy; None where *error* has nothing to do with TLS."""
    found = next((each for each in _chain(error) if isinstance(each, ssl.SSLError)), None)
    said = str(error)
    if isinstance(found, ssl.SSLCertVerificationError):
        reason = found.verify_message
        remedy = next(what for sign, what in _OF_CERTIFICATE if sign in reason)
        return f"its certificate is not trusted: {reason.rstrip('.')}; {remedy}"
    for sign, remedy in _OF_TALK.items():
        if sign in said:
            return remedy
    return f"{found}; check the files that redis_url names" if found else None


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
