"""Tracebacks as they are kept: whose lines, how many, and nothing of what the lines were about."""

import json
from copy import deepcopy
from threading import Lock

import pytest

from nous.domain.errors import Retryable
from nous.redaction.error_text import folded, place, traced, whole


def _failure(depth: int = 0) -> Exception:
    try:
        _fail(depth)
    except ValueError as error:
        return error
    raise AssertionError


def _fail(depth: int) -> None:
    if depth:
        _fail(depth - 1)
    json.loads("{my password is hunter22}")


def test_frames_of_libraries_are_folded_into_one_line_and_ours_are_shown() -> None:
    lines = list(folded(traced(_failure())))

    assert [line.rpartition(" ")[2] for line in lines[:2]] == ["_failure", "_fail"]
    assert lines[2] == "  ... 3 frames in json"
    assert lines[3].startswith("JSONDecodeError: ")
    assert len(lines) == 4


def test_what_led_to_an_error_is_told_before_it() -> None:
    with pytest.raises(Retryable) as raised:
        _translate()

    errors = [line for line in whole(traced(raised.value)) if not line.startswith("  ")]
    assert [line.partition(":")[0] for line in errors] == ["JSONDecodeError", "Retryable"]


def _translate() -> None:
    try:
        _fail(0)
    except ValueError as cause:
        raise Retryable("not now") from cause


def test_a_deep_recursion_is_cut_and_says_so() -> None:
    trace = traced(_failure(depth=300))

    assert len(trace) <= 4000
    assert len(trace.splitlines()) <= 22
    assert "frames before" in trace


def test_the_place_is_the_last_line_that_is_no_library_s() -> None:
    assert place(_failure()).endswith("in _fail")
    assert place(ValueError("never raised")) == ""
    assert place(_failure_deep_in_a_library()) == ""


def _failure_deep_in_a_library() -> Exception:
    nested: object = Lock()
    for _ in range(20):
        nested = [nested]
    with pytest.raises(TypeError) as raised:
        deepcopy(nested)
    return raised.value


def test_the_texts_of_errors_are_redacted() -> None:
    trace = traced(ValueError("no good: 'I want to tell my boss that this is over', password=hunter22"))

    assert trace == "! ValueError: no good: '40 characters', password=[secret:password]"
