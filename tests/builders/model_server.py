"""A model server on the loopback interface, which goes wrong when it is told to.

    with ModelServer(answer=lambda request: '{"title": "Tea"}') as server:
        server.set_faults(["500", "429 retry-after 1"])      # the next two requests; then it is healthy
        ...                                                  # base_url: server.openai_url or server.url (Anthropic)
        assert [request.fault for request in server.requests] == ["500", "429 retry-after 1", None]

It speaks `POST /v1/chat/completions`, `/v1/messages` and `/v1/embeddings` over real sockets. builders/model_faults.py
names the faults; `server.outage = "500"` spoils every request until it is None again. `hold(n)` keeps answers back
until n requests are in flight at once.
"""

import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, RLock, Thread
from typing import Any, Self

import orjson

from builders import model_speech
from builders.model_faults import Wired, spoilt
from builders.quoting import careful

FaultOf = Callable[["Request"], str | None]
ENDLESS = 1_000_000
DRIP = 0.02
"""Seconds between two bytes of an answer that drips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked, and the fault that it met."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    fault: str | None = None

    @property
    def user(self) -> str:
        """What the user said first."""
        return model_speech.user_text(self.body)

    @property
    def prompt(self) -> str:
        """sha256, in hex, of what the user said first."""
        return sha256(self.user.encode()).hexdigest()

    @property
    def key(self) -> str:
        """The key that came with it."""
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def has_schema(self) -> bool:
        """Whether it asks for an answer of a certain form, which not every server knows."""
        return any(name in self.body for name in ("response_format", "tools"))


def canned(_: Request) -> str:
    return '{"title": "Tea", "points": ["it is hot"], "count": 1}'


class ModelServer:
    """Answers with what *answer* gives for a request, quoted by `careful`, or *vector* for a text.

    Everything here may be called from any thread. `answer`, `vector` and a callable for faults run in the server's
    thread and must not block.
    """

    def __init__(
        self,
        answer: Callable[[Request], str] = canned,
        *,
        vector: Callable[[str], Sequence[float]] = model_speech.vector,
    ) -> None:
        self.outage: str | None = None
        """The fault of every request from now on, or None."""
        self._answer = answer
        self._vector = vector
        self._lock = RLock()
        self._changed = Condition(self._lock)
        self._fault_of = _in_turn(())
        self._requests: list[Request] = []
        self._in_flight = 0
        self._peak = 0
        self._held_for = 0
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """Its address, without a path: what Anthropic's SDK takes as the base."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openai_url(self) -> str:
        """What OpenAI's SDK takes as the base."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order in which they came in whole."""
        with self._lock:
            return list(self._requests)

    @property
    def by_prompt(self) -> Counter[str]:
        """How many requests there were, by `Request.prompt`."""
        return Counter(request.prompt for request in self.requests)

    @property
    def peak(self) -> int:
        """The most requests that were in flight at once."""
        with self._lock:
            return self._peak

    def set_faults(self, faults: Iterable[str | None] | FaultOf) -> None:
        """The faults of the next requests, in order, or what tells the fault of each request; then it is healthy."""
        with self._lock:
            self._fault_of = faults if callable(faults) else _in_turn(faults)

    def hold(self, count: int) -> None:
        """Keep answers back until *count* requests are in flight at once, now or before; 0 lets all of them go."""
        with self._changed:
            self._held_for = count
            self._peak = self._in_flight
            self._changed.notify_all()

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self.hold(0)
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()
        self._server.let_go()

    def wired(self, path: str, headers: dict[str, str], body: bytes) -> Wired:
        """Return the response to a request, once it is due."""
        request = self._noted(Request(path=path, headers=headers, body=orjson.loads(body) if body else {}))
        with self._changed:
            self._changed.wait_for(lambda: self._peak >= self._held_for)
        told = f"{request.user} {request.key}"
        found = spoilt(request.fault, Wired(body=self._said(request)), has_schema=request.has_schema, told=told)
        with self._lock:
            self._in_flight -= 1
        return found

    def _said(self, request: Request) -> bytes:
        if request.path.endswith("/embeddings"):
            return model_speech.vectors(request.body, request.fault, self._vector)
        return model_speech.answer(
            request.path, request.body, request.fault, lambda: careful(self._answer(request), request.user)
        )

    def _noted(self, request: Request) -> Request:
        with self._changed:
            noted = replace(request, fault=self.outage or self._fault_of(request))
            self._requests.append(noted)
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)
            self._changed.notify_all()
        return noted


class _Server(ThreadingHTTPServer):
    """Serves each connection in a thread of its own, and waits for them all in the end."""

    daemon_threads = False
    request_queue_size = 1024

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.connections: set[socket.socket] = set()

    def hang_up(self) -> None:
        for each in list(self.connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def let_go(self) -> None:
        """Close the connections whose handlers ended without closing them, as when a caller was killed."""
        for each in self.connections:
            if (descriptor := each.detach()) >= 0:
                os.close(descriptor)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore it: the caller has gone, or the test is over."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        assert isinstance(self.server, _Server)
        self._model = self.server.model
        self.server.connections.add(self.connection)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (as its base has it)
        pass

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        self._send(self._model.wired(self.path, headers, body))

    def _send(self, wired: Wired) -> None:
        """Send *wired* in its manner. The connection is left open only if that is "whole"."""
        self.close_connection = wired.manner != "whole"
        if wired.manner == "hang":
            self.rfile.read(1)  # nothing comes until the caller goes
        if wired.manner in {"hang", "closed"}:
            return
        length = ENDLESS if wired.manner == "drip" else len(wired.body)
        known = (("content-type", "application/json"), ("content-length", str(length)), *wired.headers)
        head = "".join(f"{name}: {value}\r\n" for name, value in known)
        body = wired.body[: len(wired.body) // 2] if wired.manner == "cut" else wired.body
        sent = b"" if wired.manner == "drip" else body
        self.wfile.write(f"HTTP/1.1 {wired.status} X\r\n{head}\r\n".encode("latin-1") + sent)
        while wired.manner == "drip":  # white space, byte by byte, that never comes to an end
            self.wfile.write(b" ")
            time.sleep(DRIP)


def _in_turn(faults: Iterable[str | None]) -> FaultOf:
    left = iter(tuple(faults))
    return lambda _: next(left, None)
