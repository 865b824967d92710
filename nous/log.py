"""Configure structured logging to standard error, in one format for our code and libraries.

Our code logs with `structlog.get_logger(__name__)`. RQ and redis-py log with the standard library. Both pass the same
processors. So every line has the fields that were bound with `structlog.contextvars` in its thread, such as the ids of
event, session, job and worker. RQ's info lines about each worker and job count as debug lines, because our own lines
say the same.
"""

import json
import logging
import re
import sys
from typing import Any, Literal

import orjson
import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor, WrappedLogger

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["auto", "json", "console"]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class StandardError(logging.Handler):
    """Log handler that writes whole lines to `sys.stderr`, which may be replaced meanwhile."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception as error:  # noqa: BLE001 (a value's text may raise anything: log that, and go on)
            line = _as_json({"event": "log.write_failed", "why": repr(error), "logger": record.name})
        try:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        except (OSError, ValueError):  # standard error was closed
            return


def configure(level: Level = "info", form: Form = "auto") -> None:
    """Configure logging of *level* and above, as JSON or for the console.

    "auto" is for the console on a terminal, else JSON. The owner of the process calls it once. Calling it again
    replaces the configuration.
    """
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_shared(), ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = StandardError(level.upper())  # RQ sets the levels of its loggers itself, so the handler filters as well
    if level != "debug":
        handler.addFilter(_is_no_chatter)
    is_console = form == "console" or (form == "auto" and sys.stderr.isatty())
    # Richer formatters, used by default where installed, print the values of variables: the content of sessions.
    plain = structlog.dev.plain_traceback
    console = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    json = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_as_json)]
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[*_shared(), structlog.stdlib.ExtraAdder(), _without_colour],
            processors=[ProcessorFormatter.remove_processors_meta, *(console if is_console else json)],
        )
    )
    root = logging.getLogger()
    for other in [other for other in root.handlers if isinstance(other, StandardError)]:
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(level.upper())
    logging.getLogger("httpx2").setLevel("WARNING")  # it logs every request, and so do our own lines
    _take_over_from_rq()


def _is_no_chatter(record: logging.LogRecord) -> bool:
    """Return whether *record* is none of RQ's routine lines."""
    return record.levelno > logging.INFO or not record.name.startswith("rq.")


def _take_over_from_rq() -> None:
    """Route RQ's loggers through the root logger, so that RQ adds no handlers of its own."""
    known = [name for name in logging.root.manager.loggerDict if name.startswith("rq.")]
    for logger in map(logging.getLogger, known):
        logger.handlers.clear()
        logger.setLevel(logging.NOTSET)
        logger.propagate = True


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]


def _as_json(event: EventDict, **_: Any) -> str:
    try:
        return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # half a character, or a number beyond 64 bits: the slow way knows both
        return json.dumps(event, default=str, skipkeys=True)


def _without_colour(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Strip the colours that RQ adds when standard output is a terminal, wherever its lines go."""
    event["event"] = _COLOUR.sub("", str(event["event"]))
    return event
