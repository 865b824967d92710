from io import BytesIO

from nous.transcript.io.lines import LONGEST_LINE, TOO_LONG, ReadPosition, lines
from nous.transcript.model import ReadNotes


def test_each_line_knows_its_number_and_offset() -> None:
    found = list(lines(BytesIO(b"a\r\n\nccc"), ReadNotes(), ReadPosition()))

    assert found == [(1, 0, b"a\r\n"), (2, 3, b"\n"), (3, 4, b"ccc")]


def test_a_byte_order_mark_is_taken_off_and_counts_as_bytes() -> None:
    assert list(lines(BytesIO(b"\xef\xbb\xbfa\nb"), ReadNotes(), ReadPosition())) == [(1, 3, b"a\n"), (2, 5, b"b")]


def test_a_line_too_long_for_memory_is_passed_over_and_reading_goes_on() -> None:
    notes = ReadNotes()
    endless = b"x" * (LONGEST_LINE + 5)

    found = list(lines(BytesIO(b"a\n" + endless + b"\nb\n"), notes, ReadPosition()))

    assert found == [(1, 0, b"a\n"), (3, 2 + len(endless) + 1, b"b\n")]
    assert [(problem.line, problem.reason) for problem in notes.problems] == [(2, TOO_LONG)]
