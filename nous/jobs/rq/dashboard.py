"""Build a Flask app from rq-dashboard, patched for RQ 3 and JSON jobs, with optional login.

rq-dashboard 0.9.0 was written for RQ 1 and for pickled jobs. Against RQ 3 and our JSON jobs it answers 500

- on the list of workers while one is busy: it fetches the current job without saying that it is JSON;
- on a worker whose job was deleted meanwhile.
"""

from collections.abc import Callable, Mapping
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
from rq import Queue, Worker
from rq.exceptions import DeserializationError, InvalidJobOperation, NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from nous.domain.errors import Misconfigured
from nous.jobs.base import BARE, JobNames
from nous.jobs.rq.job import AllowListedJob


class ShownJob(AllowListedJob):
    """Job for viewing, deleting and requeueing. It reads only JSON, so a pickle never runs."""

    def __init__(self, id: str | None = None, connection: Redis | None = None, serializer: object = None) -> None:  # noqa: A002, ARG002 - the parameters are RQ's
        super().__init__(id, connection=connection, serializer=JSONSerializer)

    def get_call_string(self) -> str | None:
        """Return the description, in place of the call, which is the same for every job."""
        return self.description


def _rq_names(connection: Redis, names: JobNames) -> dict[str, Any]:
    class OwnQueue(Queue):
        job_class = ShownJob

        @classmethod
        def all(cls, *args: Any, **options: Any) -> list[Queue]:
            return [each for each in super().all(*args, **options) if names.owns_any([each.name])]

    class OwnWorker(Worker):
        job_class, queue_class = ShownJob, OwnQueue

        def get_current_job(self) -> Job | None:
            """Return one of the jobs in flight; None if it was deleted meanwhile."""
            try:
                return super().get_current_job()
            except NoSuchJobError:
                return None

        @classmethod
        def all(cls, *args: Any, **options: Any) -> list[Any]:
            found: list[Any] = super().all(*args, **options)
            return [each for each in found if names.owns_any(each.queue_names())]

    def requeue_job(job_id: str, connection: Redis) -> Job:
        return ShownJob.fetch(job_id, connection=connection).requeue()

    def from_url(*_: object, **__: object) -> tuple[None, Redis]:
        return None, connection  # the original makes a client for each request

    return {"Job": ShownJob, "Queue": OwnQueue, "Worker": OwnWorker, "requeue_job": requeue_job, "from_url": from_url}


ACTIONS = frozenset({"delete_job_view", "requeue_job_view", "requeue_all", "empty_queue", "compact_queue"})
"""The endpoints that change something. `requeue_all` answers GET, too."""


def build(connection: Redis, *, shown_as: str, names: JobNames = BARE, login: tuple[str, str] | None = None) -> Flask:
    """Build the dashboard app for the server behind *connection*, which it calls *shown_as*.

    It lists the queues and workers of one installation; a job of any installation is found by its id. *login* is a name
    and a password. Without it, the app answers only to host names of this machine, so that a foreign site cannot reach
    it by pointing its own name here (DNS rebinding). RQ changes the timeouts of *connection*: pass one that is used for
    nothing else. Raises `Misconfigured` if rq-dashboard is absent or another release.
    """
    web = _private_copy("rq_dashboard.web", _rq_names(connection, names))
    app = Flask("rq_dashboard")
    app.json = _WithoutMarkup(app)
    app.config["RQ_DASHBOARD_REDIS_URL"] = [shown_as]
    web.setup_rq_connection(app)
    app.before_request(_demand(login) if login else _refuse_foreign_names)
    app.before_request(_refuse_foreign_sites)
    app.register_blueprint(web.blueprint)
    _answer_errors(app)
    return app


def listen(app: Flask, *, host: str, port: int) -> BaseWSGIServer:
    """Return a server that is bound to its port. Raises `Misconfigured` if it cannot be."""
    try:
        return make_server(host, port, app, threaded=True, request_handler=_Quiet)
    except (OSError, SystemExit) as error:  # it exits where the port is taken
        raise Misconfigured(f"cannot listen on {host} port {port}; try another --port") from error


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches *host*. Names but localhost do not count."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _private_copy(name: str, names: Mapping[str, Any]) -> ModuleType:
    """Execute the module *name* once more, unregistered, with *names* in place of its own.

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


def _demand(login: tuple[str, str]) -> Callable[[], Response | None]:
    def check() -> Response | None:
        given = request.authorization
        credentials = f"{given.username}:{given.password}" if given else ""
        if compare_digest(credentials.encode(), ":".join(login).encode()):  # in constant time
            return None
        return Response("Log in to see the queues.", 401, {"WWW-Authenticate": 'Basic realm="nous"'})

    return check


def _refuse_foreign_names() -> None:
    if not is_loopback(urlsplit(f"//{request.host}").hostname or ""):
        abort(403)


def _refuse_foreign_sites() -> None:
    """Refuse actions of another site (CSRF); browsers name it in `Sec-Fetch-Site`."""
    action = (request.endpoint or "").removeprefix("rq_dashboard.") in ACTIONS
    if action and request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}:
        abort(403)


def _answer_errors(app: Flask) -> None:
    for kind, status, text in (
        (NoSuchJobError, 404, "There is no such job; it may have ended and expired."),
        (InvalidJobOperation, 409, "The job is not in a state that allows this."),
        (DeserializationError, 409, "The job is not one of nous, and cannot be read."),
        (ValueError, 409, "The job has just changed; look again."),
        (redis_errors.NoPermissionError, 403, "The Redis user of this dashboard may not do that."),
        (redis_errors.ConnectionError, 503, "The Redis server does not answer."),
        (redis_errors.TimeoutError, 503, "The Redis server does not answer in time."),
    ):
        app.register_error_handler(kind, lambda _, said=(text, status): said)


class _WithoutMarkup(DefaultJSONProvider):
    """JSON without angle brackets: the pages insert it as HTML, and it may quote a producer."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return super().dumps(obj, **kwargs).translate({ord("<"): "\\u2039", ord(">"): "\\u203a"})


class _Quiet(WSGIRequestHandler):
    """Request handler without an access log: the pages poll every few seconds."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass
