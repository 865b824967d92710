"""Detect a session file's format from its first bytes, and look up format readers by name."""

import sys
from collections import Counter
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from itertools import islice
from typing import NamedTuple

from nous.domain.errors import BadInput
from nous.domain.plug_ins import PlugIns
from nous.transcript import readers
from nous.transcript.io.byte_source import BYTE_ORDER_MARK, LONGEST_LINE, TOO_LONG, ByteSource, ReadPosition, is_text
from nous.transcript.io.records import BROKEN, records, scan
from nous.transcript.model import ReadNotes
from nous.transcript.reader import FormatReader, Sample

HEAD = 32 * 1024  # bytes to inspect, at most `RECORDS` records, unless the first record is longer

OPENING = 8 * 1024 * 1024
"""Maximum bytes to inspect if the session is one JSON document, whose first message may be that long."""

RECORDS = 50

_SURE_ENOUGH = 0.2
_MOST_KEYS = 8

READERS = PlugIns(readers, attribute="READER", group="nous.readers")


class UnknownFormat(BadInput):
    """No reader recognizes the content. The message says what the file holds."""


def known_readers() -> Mapping[str, FormatReader]:
    """Return every reader by format: built-in modules, and entry points of `nous.readers`."""
    return _readers_in(tuple(readers.__path__), tuple(sys.path))


@cache  # a package is scanned once: a scan costs as much as reading a short session
def _readers_in(_folders: tuple[str, ...], _path: tuple[str, ...]) -> Mapping[str, FormatReader]:
    return {plug_in.format: plug_in for plug_in in READERS.all().values()}


def reader_named(name: str) -> FormatReader:
    """Return the reader of the format *name*, in any case, or raise BadInput; `-` equals `_`."""
    known = known_readers()
    reader = known.get(name.replace("-", "_").lower())
    if reader is None:
        raise BadInput(f"there is no format {name!r}; choose one of {', '.join(sorted(known))}")
    return reader


class Sniffed(NamedTuple):
    reader: FormatReader
    confidence: float


def reader_for(sample: Sample) -> Sniffed:
    """Return the reader with the highest confidence; raises UnknownFormat if that is too low."""
    found = _surest(sample)
    if found.confidence < _SURE_ENOUGH:
        raise UnknownFormat(f"this is no transcript that nous can read: it holds {seen_in(sample)}")
    return found


def _surest(sample: Sample) -> Sniffed:
    known = known_readers()
    confidence, name = max((reader.sniff(sample), name) for name, reader in known.items())
    return Sniffed(known[name], confidence)


def sample_of(byte_source: ByteSource) -> Sample:
    """Return a sample of the beginning, without consuming it. Raises UnknownFormat if too long."""
    size = HEAD
    sample, most = _sample(head := byte_source.look(size))
    while len(head) == size < most:
        size = min(4 * size, most)
        sample, most = _sample(head := byte_source.look(size))
    if len(head) == LONGEST_LINE and b"\n" not in head and not sample.records:
        raise UnknownFormat(f"this is no transcript that nous can read: it is a {TOO_LONG}, {sample.text[:40]!r} ...")
    return sample


def _worth_a_look(head: bytes, sample: Sample) -> int:
    begins = _begins(head)
    if not sample.records:
        return LONGEST_LINE if b"\n" not in head or begins in {b"{", b"["} else 0
    is_torn_at_once = begins == b"{" and not scan(head).spans  # its messages may not have begun yet
    return OPENING if is_torn_at_once and _surest(sample).confidence < _SURE_ENOUGH else 0


def _begins(head: bytes) -> bytes:
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n\0")[:1]


def _sample(head: bytes) -> tuple[Sample, int]:
    """Return the sample in *head*, and the bytes from the start that may help; 0 if none do."""
    notes = ReadNotes()
    found = tuple(islice(records(BytesIO(head), notes, ReadPosition()), RECORDS))
    broken = notes.skipped[BROKEN]
    is_json = len(found) >= broken
    sample = Sample(
        text=head[:HEAD].decode(errors="replace").removeprefix("\ufeff"),
        records=tuple(record.value for record in found) if is_json else (),
    )
    return sample, 0 if broken > RECORDS else _worth_a_look(head, sample)


def seen_in(sample: Sample) -> str:
    """Describe the content of a file in a few words, for error messages."""
    if sample.records:
        keys = Counter(key for record in sample.records for key in record)
        kinds = sorted({str(record["type"]) for record in sample.records if isinstance(record.get("type"), str)})
        types = f", of type {', '.join(kinds[:_MOST_KEYS])}" if kinds else ""
        named = f"with the keys {', '.join(key for key, _ in keys.most_common(_MOST_KEYS))}" if keys else "without keys"
        return f"JSON objects {named}{types}"
    if not is_text(sample.text):
        return f"binary data (it begins {sample.text[:8]!r})"
    what = "damaged JSON" if _begins(sample.text.encode()) in (b"{", b"[") else "text"
    return f"{what} that begins {sample.text[:12]!r}"  # too little for a secret: logs quote it
