"""Telling the format of a session file from its beginning."""

import pkgutil
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from io import BytesIO
from itertools import islice
from typing import NamedTuple, cast

from nous.domain.errors import BadInput, Misconfigured
from nous.transcript import readers
from nous.transcript.io.byte_source import Tap, is_text
from nous.transcript.io.json_values import scan
from nous.transcript.io.lines import BYTE_ORDER_MARK, LONGEST_LINE, TOO_LONG, Cursor
from nous.transcript.io.records import BROKEN, records
from nous.transcript.model import Notes
from nous.transcript.reader import Reader, Sample

HEAD = 32 * 1024
"""Bytes that are looked at, unless the first record is longer."""

OPENING = 8 * 1024 * 1024
"""Bytes of a session in one document that are looked at until it says enough: its first message may be that long."""

RECORDS = 50
"""Records that are looked at."""

_SURE_ENOUGH = 0.2
_MOST_KEYS = 8


class UnknownFormat(BadInput):
    """No reader recognises what the file holds. The text says what was seen in it."""


def known_readers() -> Mapping[str, Reader]:
    """Every reader by its format: the `READER` of each module in `nous.transcript.readers`."""
    return _readers_in(tuple(readers.__path__))


@cache  # a package is looked through once; looking costs as much as reading a short session
def _readers_in(folders: tuple[str, ...]) -> Mapping[str, Reader]:
    modules = (import_module(f"{readers.__name__}.{found.name}") for found in pkgutil.iter_modules(folders))
    found = [cast("Reader", module.READER) for module in modules if hasattr(module, "READER")]
    known = {reader.format: reader for reader in found}
    if len(known) < len(found):
        twice = [name for name, times in Counter(reader.format for reader in found).items() if times > 1]
        raise Misconfigured(f"two modules in nous.transcript.readers read the format {', '.join(twice)}")
    return known


def reader_named(name: str) -> Reader:
    """The reader of the format *name*, in which `-` and `_` are the same."""
    known = known_readers()
    reader = known.get(name.replace("-", "_").lower())
    if reader is None:
        raise BadInput(f"there is no format {name!r}; choose one of {', '.join(sorted(known))}")
    return reader


class Sniffed(NamedTuple):
    """A reader, and how sure it is."""

    reader: Reader
    confidence: float


def reader_for(sample: Sample) -> Sniffed:
    """The reader that is surest that *sample* is of its format."""
    found = _surest(sample)
    if found.confidence < _SURE_ENOUGH:
        raise UnknownFormat(f"this is no transcript that nous can read: it holds {seen_in(sample)}")
    return found


def _surest(sample: Sample) -> Sniffed:
    known = known_readers()
    if not known:
        raise Misconfigured("no readers are installed in nous.transcript.readers")
    confidence, name = max((reader.sniff(sample), name) for name, reader in known.items())
    return Sniffed(known[name], confidence)


def sample_of(tap: Tap) -> Sample:
    """The beginning of what *tap* will give: more of it than usual if the first line, record or message is longer.

    Raises UnknownFormat if that is longer than memory can bear.
    """
    size = HEAD
    head = tap.look(size)
    sample, is_hopeless = _sample(head)
    while not is_hopeless and len(head) == size < (most := _worth_a_look(head, sample)):
        size = min(4 * size, most)
        head = tap.look(size)
        sample, is_hopeless = _sample(head)
    if len(head) == LONGEST_LINE and b"\n" not in head and not sample.records:
        raise UnknownFormat(f"this is no transcript that nous can read: it is a {TOO_LONG}, {sample.text[:40]!r} ...")
    return sample


def _worth_a_look(head: bytes, sample: Sample) -> int:
    """How many bytes of a file that begins with *head*, which holds *sample*, may be needed to tell what it is."""
    if not sample.records:
        return LONGEST_LINE if _may_go_on(head) else 0
    return OPENING if _is_torn_at_once(head) and _surest(sample).confidence < _SURE_ENOUGH else 0


def _is_torn_at_once(head: bytes) -> bool:
    """Whether *head* ends inside of its first object: of a session, it may have no message yet."""
    return _begins(head) == b"{" and not scan(head).spans


def _may_go_on(head: bytes) -> bool:
    """Whether the first line, or an object written over many lines, is not complete yet."""
    return b"\n" not in head or _begins(head) in (b"{", b"[")


def _begins(head: bytes) -> bytes:
    """The first byte that says something."""
    return head.removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n\0")[:1]


def _sample(head: bytes) -> tuple[Sample, bool]:
    """What *head* holds, and whether it holds so much that is no JSON that there is no use in looking further."""
    notes = Notes()
    found = tuple(islice(records(BytesIO(head), notes, Cursor()), RECORDS))
    broken = notes.skipped[BROKEN]
    is_json = len(found) >= broken
    sample = Sample(
        text=head[:HEAD].decode(errors="replace").removeprefix("\ufeff"),
        records=tuple(record.value for record in found) if is_json else (),
    )
    return sample, broken > RECORDS


def seen_in(sample: Sample) -> str:
    """What is in a file, in a few words."""
    if sample.records:
        keys = Counter(key for record in sample.records for key in record)
        kinds = sorted({str(record["type"]) for record in sample.records if isinstance(record.get("type"), str)})
        types = f", of type {', '.join(kinds[:_MOST_KEYS])}" if kinds else ""
        named = f"with the keys {', '.join(key for key, _ in keys.most_common(_MOST_KEYS))}" if keys else "without keys"
        return f"JSON objects {named}{types}"
    if not is_text(sample.text):
        return f"binary data (it begins {sample.text[:8]!r})"
    what = "damaged JSON" if _begins(sample.text.encode()) in (b"{", b"[") else "text"
    return f"{what} that begins {sample.text[:40]!r}"
