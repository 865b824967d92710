"""Patched rq-dashboard whose pages work while our jobs are in flight.

rq-dashboard 0.9.0 was written for RQ 1 and for pickled jobs. Against RQ 3 and our JSON jobs it answers 500

- on the list of workers while one is busy: it fetches the current job without saying that it is JSON;
- on a job that depends on another: RQ's ids are no longer bytes;
- on deleting a job whose execution ended, or expired with its worker, since it was listed;
- on compacting an empty queue;
- on a worker whose job was deleted meanwhile.
"""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from importlib.util import find_spec, module_from_spec
from ipaddress import ip_address
from types import ModuleType
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from flask import Flask, Response, abort, request
from flask.json.provider import DefaultJSONProvider
from redis import Redis
from redis import exceptions as redis_errors
from rq import Queue, Worker
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.executions import Execution, ExecutionRegistry
from rq.job import Job
from rq.serializers import JSONSerializer
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from nous.domain.errors import Misconfigured
from nous.jobs.base import JobNames

UNREADABLE = "(not JSON)"
"""Placeholder for data that another application pickled on the same server."""


class JsonOnly(JSONSerializer):
    """Serializer that reads only JSON.

    Looking at a job therefore never runs code that a pickle may hold.
    """

    @staticmethod
    def loads(s: bytes, *args: Any, **kwargs: Any) -> Any:
        try:
            return JSONSerializer.loads(s, *args, **kwargs)
        except ValueError:
            return UNREADABLE


class _Id(str):
    """Job id with a `decode` method, because rq-dashboard expects bytes."""

    __slots__ = ()

    def decode(self, _encoding: str) -> str:
        return str(self)


class _Executions(ExecutionRegistry):
    """Executions of a job.

    One that is gone is represented by its name alone.
    """

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        return [self._execution(name) for name in self.get_execution_ids(start, end)]

    def _execution(self, name: str) -> Execution:
        try:
            return Execution.fetch(id=name, job_id=self.job_id, connection=self.connection)
        except ValueError:
            return Execution(id=name, job_id=self.job_id, connection=self.connection)


class ShownJob(Job):
    """Job for viewing, deleting and requeueing, never for running."""

    def __init__(self, id: str | None = None, connection: Redis | None = None, serializer: object = None) -> None:  # noqa: A002, ARG002 - the parameters are RQ's
        super().__init__(id, connection=connection, serializer=JsonOnly)

    @property
    def dependency_ids(self) -> list[str]:
        return [_Id(name) for name in super().dependency_ids]

    @property
    def execution_registry(self) -> ExecutionRegistry:
        return _Executions(self.id, connection=self.connection)

    def get_call_string(self) -> str | None:
        """Return the job's description.

        It stands in place of the call, which is the same for every job but for its ids.
        """
        return self.description


class ShownQueue(Queue):
    """Queue that may be empty when it is compacted."""

    names: ClassVar[JobNames | None] = None

    @classmethod
    def all(cls, *args: Any, **options: Any) -> list[Queue]:
        """Return the queues of the installation, or of all installations without *names*."""
        return [each for each in super().all(*args, **options) if cls.names is None or cls.names.owns_any([each.name])]

    def compact(self) -> None:
        if not self.is_empty():
            super().compact()


class ShownWorker(Worker):
    """Registered worker for viewing.

    It shows one of its jobs in flight and the number of the others.
    """

    names: ClassVar[JobNames | None] = None

    @classmethod
    def all(cls, *args: Any, **options: Any) -> list[Any]:
        """Return the workers of the installation, or of all installations without *names*."""
        found: list[Any] = super().all(*args, **options)
        return [each for each in found if cls.names is None or cls.names.owns_any(each.queue_names())]

    def get_current_job(self) -> Job | None:
        try:
            job = super().get_current_job()
        except NoSuchJobError:
            return None
        if job is not None and (others := len(self.get_current_executions()) - 1) > 0:
            job.description = f"{job.description} and {others} more"
        return job


@dataclass(frozen=True, slots=True)
class Shown:
    """The four RQ names that rq-dashboard uses."""

    job: type[Job]
    queue: type[Queue]
    worker: type[Worker]
    requeue: Callable[..., Job]


def shown(job_class: type[Job], names: JobNames | None = None) -> Shown:
    """Return viewable variants of RQ's classes, for jobs of the class *job_class*.

    With *names* they list what one installation has.
    """
    job = cast("type[Job]", type("Job", (ShownJob, job_class), {}))
    queue = cast("type[Queue]", type("Queue", (ShownQueue,), {"job_class": job, "names": names}))
    nouns = {"job_class": job, "queue_class": queue, "names": names}
    worker = cast("type[Worker]", type("Worker", (ShownWorker,), nouns))

    def requeue(job_id: str, connection: Redis) -> Job:
        return job.fetch(job_id, connection=connection).requeue()

    return Shown(job, queue, worker, requeue)


REGISTRIES = frozenset({"queued", "started", "failed", "finished", "deferred", "scheduled", "canceled"})
ACTIONS = frozenset({"delete_job_view", "requeue_job_view", "requeue_all", "empty_queue", "compact_queue"})
"""The endpoints that change something. `requeue_all` answers GET, too."""


@dataclass(frozen=True, slots=True)
class Login:
    """Credentials, required once other machines can reach the dashboard."""

    username: str
    password: str

    def fits(self, username: str | None, password: str | None) -> bool:
        """Return whether the credentials match, in constant time."""
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
    """Build the dashboard app for the server behind *connection*.

    Its pages call the server *shown_as*. With *names* it lists the queues and workers of one installation; a job of any
    installation is found by its id. Without a *login* it answers only to host names of this machine, so that a foreign
    site cannot reach it by pointing its own name here (DNS rebinding). RQ changes the timeouts of *connection*: pass
    one that is used for nothing else.

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
    """Return a server of *app* that is already bound to its port; call `serve_forever`.

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
    """Return whether only this machine can reach *host*.

    A host name other than localhost may resolve to any address, so it does not count.
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _web(connection: Redis, nouns: Shown) -> ModuleType:
    """Load a private copy of rq-dashboard's views, with our classes in place of RQ's.

    All requests share one client; the original makes one for each request.
    """

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
    """Refuse actions that another site triggers (CSRF).

    Browsers say in `Sec-Fetch-Site` where a request comes from.
    """
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
    """JSON provider that replaces angle brackets.

    The pages insert a job's description and errors as HTML, and those may quote a producer's text.
    """

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return super().dumps(obj, **kwargs).translate({ord("<"): "\\u2039", ord(">"): "\\u203a"})


class _Quiet(WSGIRequestHandler):
    """Request handler without an access log.

    The pages poll every few seconds, and a line for each request would drown the others.
    """

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass
