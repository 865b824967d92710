"""One form for every log line, whoever wrote it, on standard error.

Code of ours logs with `structlog.get_logger(__name__)`; RQ and redis-py log with the standard library. Both pass the
same processors, so whatever was bound with `structlog.contextvars` (the ids of event, session, job and worker) is on
every line that is written meanwhile, in that thread. What RQ tells of each worker and job at level info is for
debugging: our own lines say it once.
"""

import json
import logging
import re
import sys
import time
from collections import OrderedDict
from threading import Lock
from typing import Any, Literal

import orjson
import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor, WrappedLogger
from typing_extensions import override

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["auto", "json", "console"]

_MINUTE = 60.0
_MOST_KEYS = 1000
"""Keys of seldom lines that are remembered."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class StandardError(logging.Handler):
    """Writes to whatever standard error is at that moment, each line in one piece."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception as error:  # noqa: BLE001 (whatever a value's text raises: it must not end the work, nor be hidden)
            line = _as_json({"event": "a log line could not be written", "why": repr(error), "logger": record.name})
        try:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # nobody reads standard error any more
            return


def configure(level: Level = "info", form: Form = "auto") -> None:
    """Log lines of *level* and above, as JSON or for the eye; "auto" is for the eye on a terminal.

    To be called once by whoever owns the process; calling it again replaces what it did.
    """
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, _Seldom(), *_shared(), ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = StandardError(level.upper())  # RQ sets the levels of its loggers itself, so the handler filters as well
    handler.addFilter(_Chatter(is_wanted=level == "debug"))
    handler.setFormatter(_formatter(_console() if _for_the_eye(form) else _json()))
    root = logging.getLogger()
    for other in [other for other in root.handlers if isinstance(other, StandardError)]:
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(level.upper())
    logging.getLogger("httpx2").setLevel("WARNING")  # it tells every request, which our own lines do
    _take_over_from_rq()


class _Seldom:
    """Drops a line that says `seldom=KEY` where one of that key was written less than a minute ago."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._written: OrderedDict[str, float] = OrderedDict()

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        key, now = event.pop("seldom", None), time.monotonic()
        if key is None:
            return event
        with self._lock:
            if now - self._written.get(key, -_MINUTE) < _MINUTE:
                raise structlog.DropEvent
            self._written.pop(key, None)
            self._written[key] = now
            while len(self._written) > _MOST_KEYS:
                self._written.popitem(last=False)
        return event


class _Chatter(logging.Filter):
    """Passes what RQ tells of its daily work only where it *is_wanted*."""

    def __init__(self, *, is_wanted: bool) -> None:
        super().__init__()
        self._is_wanted = is_wanted

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        return self._is_wanted or record.levelno > logging.INFO or not record.name.startswith("rq.")


def _take_over_from_rq() -> None:
    """Let RQ speak through the root alone, at its level. It adds handlers only where it finds none above."""
    known = [name for name in logging.root.manager.loggerDict if name.startswith("rq.")]
    for logger in map(logging.getLogger, known):
        logger.handlers.clear()
        logger.setLevel(logging.NOTSET)
        logger.propagate = True


def _formatter(last: list[Processor]) -> ProcessorFormatter:
    return ProcessorFormatter(
        foreign_pre_chain=[*_shared(), structlog.stdlib.ExtraAdder(), _without_colour],
        processors=[ProcessorFormatter.remove_processors_meta, *last],
    )


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]


def _json() -> list[Processor]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_as_json)]


def _console() -> list[Processor]:
    # The prettier ones, which are used where they are installed, print what variables hold: what a session says.
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]


def _as_json(event: EventDict, **_: Any) -> str:
    try:
        return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # half a character, or a number beyond 64 bits: the slow way knows both
        return json.dumps(event, default=str, skipkeys=True)


def _without_colour(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """RQ colours its lines when standard output is a terminal, wherever they go."""
    event["event"] = _COLOUR.sub("", str(event["event"]))
    return event


def _for_the_eye(form: Form) -> bool:
    return form == "console" or (form == "auto" and sys.stderr.isatty())
