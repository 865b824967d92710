"""Logs: one form for every line, and the ids on it."""

import json
import logging
from typing import Any

import pytest
import structlog
from rq.logutils import setup_loghandlers
from structlog.contextvars import bound_contextvars

from nous import log

RQ_LOGGERS = ("rq.worker", "rq.job")


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [json.loads(line) for line in captured.err.splitlines()]


def test_a_line_of_ours_is_json_with_level_time_and_logger(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "json")

    structlog.get_logger("nous.somewhere").info("stored", episodes=3)

    (line,) = lines(capsys)
    assert (line["event"], line["episodes"], line["level"], line["logger"]) == ("stored", 3, "info", "nous.somewhere")
    assert line["timestamp"].endswith("Z")


def test_bound_ids_are_on_our_lines_and_on_those_of_rq(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "json")

    with bound_contextvars(event_id="e1", session_id="s1", job_id="j1", worker="fact-extractor"):
        structlog.get_logger("nous").info("ours")
        logging.getLogger("rq.worker").warning("%s: %s", "queue", "theirs")
    structlog.get_logger("nous").info("after")

    ours, theirs, after = lines(capsys)
    ids = {"event_id": "e1", "session_id": "s1", "job_id": "j1", "worker": "fact-extractor"}
    assert ids.items() <= ours.items()
    assert ids.items() <= theirs.items()
    assert (theirs["event"], theirs["level"]) == ("queue: theirs", "warning")
    assert not ids.keys() & after.keys()


def test_lines_of_rq_come_out_once_though_it_came_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # where RQ finds no handler it adds its own
    for name in RQ_LOGGERS:
        setup_loghandlers("INFO", name=name)
    assert all(logging.getLogger(name).handlers for name in RQ_LOGGERS)
    log.configure("info", "json")

    for name in RQ_LOGGERS:
        logging.getLogger(name).error("died")

    assert [line["logger"] for line in lines(capsys)] == list(RQ_LOGGERS)


def test_colours_of_rq_do_not_reach_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "json")

    logging.getLogger("rq.worker").warning("\x1b[32mdefault\x1b[39;49;00m: job")

    assert lines(capsys)[0]["event"] == "default: job"


def test_nothing_below_the_level_is_written_whoever_sets_the_level_of_its_logger(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure("warning", "json")
    setup_loghandlers("DEBUG", name="rq.worker")

    logging.getLogger("rq.worker").info("chatter")
    structlog.get_logger("nous").info("chatter")
    structlog.get_logger("nous").warning("matter")

    assert [line["event"] for line in lines(capsys)] == ["matter"]


@pytest.mark.parametrize(("level", "written"), [("debug", ["at work"]), ("info", [])])
def test_what_rq_tells_of_its_daily_work_is_for_debugging(
    level: log.Level, written: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    log.configure(level, "json")

    logging.getLogger("rq.worker").info("at work")

    assert [line["event"] for line in lines(capsys)] == written


def test_an_exception_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "json")

    try:
        int("broken")
    except ValueError:
        structlog.get_logger("nous").exception("failed")

    (line,) = lines(capsys)
    assert "ValueError: invalid literal" in line["exception"]


def test_the_console_form_is_for_the_eye(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "console")

    with bound_contextvars(event_id="e1"):
        logging.getLogger("rq.worker").warning("look")

    err = capsys.readouterr().err
    assert "look" in err
    assert "event_id=e1" in err
    assert not err.startswith("{")


def test_a_traceback_does_not_say_what_variables_hold(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", "console")

    try:
        session = "my pass" + "word is swordfish"
        int(session[:0])
    except ValueError:
        structlog.get_logger("nous").exception("failed")

    err = capsys.readouterr().err
    assert "invalid literal" in err
    assert "swordfish" not in err


@pytest.mark.parametrize("odd", ["half a character: \ud800", 2**70, frozenset({1})])
def test_what_json_does_not_know_is_on_the_line_all_the_same(capsys: pytest.CaptureFixture[str], odd: Any) -> None:
    log.configure("info", "json")

    structlog.get_logger("nous.somewhere").info("odd", value=odd)

    (line,) = lines(capsys)
    assert (line["event"], "value" in line) == ("odd", True)


def test_a_line_that_cannot_be_written_is_told_of_and_does_not_end_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            raise RuntimeError(f"no text of {record.msg}")

    handler = log.StandardError()
    handler.setFormatter(Broken())

    handler.emit(logging.makeLogRecord({"msg": "odd"}))

    (line,) = lines(capsys)
    assert line["event"] == "log.write_failed"
    assert "no text of odd" in line["why"]
