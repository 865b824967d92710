"""rq-dashboard's pages for our jobs, made to answer while they are in flight."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from importlib.util import find_spec, module_from_spec
from ipaddress import ip_address
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Response, abort, request
from flask.json.provider import DefaultJSONProvider
from redis import Redis
from redis import exceptions as redis_errors
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.job import Job
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from nous.errors import Misconfigured
from nous.jobs.base import JobNames
from nous.jobs.rq.shown import Shown, shown

REGISTRIES = frozenset({"queued", "started", "failed", "finished", "deferred", "scheduled", "canceled"})
ACTIONS = frozenset({"delete_job_view", "requeue_job_view", "requeue_all", "empty_queue", "compact_queue"})
"""The endpoints that change something; `requeue_all` answers GET too."""


@dataclass(frozen=True, slots=True)
class Login:
    """Who may look, once others than this machine can ask."""

    username: str
    password: str

    def fits(self, username: str | None, password: str | None) -> bool:
        """Whether this is the login, in a time that does not tell how much of it was right."""
        name_fits = compare_digest(self.username.encode(), (username or "").encode())
        return compare_digest(self.password.encode(), (password or "").encode()) and name_fits


def build(
    connection: Redis,
    *,
    shown_as: str,
    job_class: type[Job] = Job,
    names: JobNames | None = None,
    login: Login | None = None,
) -> Flask:
    """The dashboard of the server behind *connection*, which its pages call *shown_as*.

    With *names* it lists the queues and workers of one installation; a job is found by its id, whoever has it.
    Without a *login* it answers to the names of this machine only, so that a foreign site cannot reach it by pointing
    its own name here. RQ changes the timeouts of *connection*: give it one of its own.

    Raises:
        Misconfigured: rq-dashboard is absent, or not the release that this was written for.
    """
    web = _web(connection, shown(job_class, names))
    app = Flask("rq_dashboard")
    app.json = _WithoutMarkup(app)
    app.config["RQ_DASHBOARD_REDIS_URL"] = [shown_as]
    web.setup_rq_connection(app)
    app.before_request(_demand(login) if login else _refuse_foreign_names)
    app.before_request(_refuse_the_unknown)
    app.before_request(_refuse_foreign_sites)
    app.register_blueprint(web.blueprint)
    _answer_errors(app)
    return app


def listen(app: Flask, *, host: str, port: int) -> BaseWSGIServer:
    """A server of *app* that has its port already; call `serve_forever`.

    Raises:
        Misconfigured: the port is taken, or the host is not an address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise Misconfigured(f"cannot listen on {host} port {port}: {error.strerror}; try another --port") from error
    with listener:
        return make_server(host, port, app, threaded=True, request_handler=_Quiet, fd=listener.fileno())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach *host*; a name other than localhost may be anything, so it is not."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _web(connection: Redis, nouns: Shown) -> ModuleType:
    """rq-dashboard's module of views, with our names in place of RQ's and one client in place of one per request."""

    def connect(*_: object, **__: object) -> tuple[None, Redis]:
        return None, connection

    return _private_copy(
        "rq_dashboard.web",
        {
            "Job": nouns.job,
            "Queue": nouns.queue,
            "Worker": nouns.worker,
            "requeue_job": nouns.requeue,
            "from_url": connect,
        },
    )


def _private_copy(name: str, names: Mapping[str, Any]) -> ModuleType:
    """The module *name* run once more, registered nowhere, with *names* in place of its own.

    Its views find RQ's classes in the module's globals and there is no other way in. A copy keeps the change to one
    app: nothing that others import is touched, and each app has a blueprint of its own.
    """
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise Misconfigured(f"{name} is not installed: install nous with the extra `dashboard`")
    copy = module_from_spec(spec)
    spec.loader.exec_module(copy)
    if missing := names.keys() - vars(copy).keys():
        raise Misconfigured(f"{name} has no {', '.join(sorted(missing))}: install rq-dashboard 0.9.0")
    vars(copy).update(names)
    return copy


def _demand(login: Login) -> Callable[[], Response | None]:
    def check() -> Response | None:
        given = request.authorization
        if given is not None and login.fits(given.username, given.password):
            return None
        return Response("Log in to see the queues.", 401, {"WWW-Authenticate": 'Basic realm="nous"'})

    return check


def _refuse_foreign_names() -> None:
    if not is_loopback(urlsplit(f"//{request.host}").hostname or ""):
        abort(403)


def _refuse_the_unknown() -> None:
    asked = request.view_args or {}
    if asked.get("instance_number", 0) != 0 or asked.get("registry_name", "queued") not in REGISTRIES:
        abort(404)


def _refuse_foreign_sites() -> None:
    """A page of another site must not be able to press our buttons. Browsers say where a request comes from."""
    action = (request.endpoint or "").removeprefix("rq_dashboard.") in ACTIONS
    if action and request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}:
        abort(403)


def _answer_errors(app: Flask) -> None:
    for kind, status, text in (
        (NoSuchJobError, 404, "There is no such job; it may have ended and expired."),
        (InvalidJobOperation, 409, "The job is not in a state that allows this."),
        (redis_errors.NoPermissionError, 403, "The Redis user of this dashboard may not do that."),
        (redis_errors.ConnectionError, 503, "The Redis server does not answer."),
        (redis_errors.TimeoutError, 503, "The Redis server does not answer in time."),
    ):
        app.register_error_handler(kind, lambda _, said=(text, status): said)


class _WithoutMarkup(DefaultJSONProvider):
    """Answers without angle brackets: the pages insert a job's description and errors as HTML, and those may quote
    what a producer sent.
    """

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return super().dumps(obj, **kwargs).translate({ord("<"): "\\u2039", ord(">"): "\\u203a"})


class _Quiet(WSGIRequestHandler):
    """Pages ask again every few seconds; a line for each would bury the others."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass
