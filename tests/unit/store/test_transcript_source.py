"""How the transcript that an event speaks of is found, and what is said when it is no longer as it was."""

import gzip
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from builders.events import event_of
from builders.stores import WholeStore

from nous.domain.errors import BadInput
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.transcript_source import CHANGED, LARGEST, StoredTranscripts, unpacked, upload

KEYS = StoreKeys()
TEXT = b"User: which port?\n\nAssistant: 6380, as before.\n"
GZIPPED = gzip.compress(TEXT, mtime=0)  # it names a test, which has to be called the same in every process
MORE = b"\nUser: thanks\n\nAssistant: gladly\n"


@pytest.fixture
def store() -> WholeStore:
    return WholeStore()


@pytest.fixture
def transcripts(store: WholeStore) -> StoredTranscripts:
    return StoredTranscripts(store, KEYS)


def ended(*, scope: Scope | None = None, **data: Any) -> SessionEnded:
    return event_of(SessionEnded, "event", scope=scope or Scope(), session_id="s", **data)


def published(path: Path, content: bytes = TEXT) -> SessionEnded:
    """The event of a session whose file was *content* when it was published."""
    path.write_bytes(content)
    return ended(dataref=path.as_uri(), bytes=len(content), digest=sha256(content).hexdigest())


MESSAGES = ({"role": "user", "content": "which port?"}, {"role": "assistant", "content": "6380, as before."})


@pytest.mark.parametrize("transcript", [TEXT.decode(), MESSAGES], ids=["text", "messages"])
def test_a_transcript_may_be_in_the_event(transcripts: StoredTranscripts, transcript: Any) -> None:
    found = transcripts.read(ended(transcript=transcript))

    assert [entry.text for entry in found] == ["which port?", "6380, as before."]


@pytest.mark.parametrize("name", ["plain.txt", "with space, 100% & größer #1?.txt"])
def test_a_file_is_found_by_its_url(transcripts: StoredTranscripts, tmp_path: Path, name: str) -> None:
    event = published(tmp_path / name)

    found = transcripts.read(event)
    assert (found.digest, found.skipped, found.source) == (event.digest, {}, str(tmp_path / name))


def test_an_upload_is_found_by_its_dataref(transcripts: StoredTranscripts, store: WholeStore) -> None:
    dataref = upload(store, TEXT, keys=KEYS, scope=Scope(), session_id="s")

    found = transcripts.read(ended(dataref=dataref, bytes=len(TEXT), digest=sha256(TEXT).hexdigest()))
    assert (found.digest, found.skipped, found.source) == (sha256(TEXT).hexdigest(), {}, dataref)


def test_an_upload_that_is_gone_is_said_to_be(transcripts: StoredTranscripts) -> None:
    with pytest.raises(BadInput, match="is gone"):
        transcripts.read(ended(dataref=f"redis:{KEYS.transcript(Scope(), 's', digest='d')}"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    "now", [TEXT + MORE, TEXT[:-10], b"", TEXT.replace(b"6380", b"6379")], ids=["grown", "cut", "empty", "rewritten"]
)
def test_a_file_that_changed_is_read_as_it_is_and_the_change_is_said(
    transcripts: StoredTranscripts, tmp_path: Path, now: bytes, pack: Callable[[bytes], bytes]
) -> None:
    event = published(tmp_path / "t.txt")
    (tmp_path / "t.txt").write_bytes(pack(now))

    found = transcripts.read(event)
    assert found.digest == sha256(now).hexdigest()
    assert found.skipped[CHANGED] == 1


def test_without_a_digest_the_length_tells(transcripts: StoredTranscripts, tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(TEXT)

    assert transcripts.read(ended(dataref=path.as_uri(), bytes=len(TEXT))).skipped == {}
    assert transcripts.read(ended(dataref=path.as_uri(), bytes=len(TEXT) - 1)).skipped == {CHANGED: 1}
    assert transcripts.read(ended(dataref=path.as_uri(), digest="0" * 64)).skipped == {CHANGED: 1}


def test_a_file_that_vanished_is_said_to_be_gone(transcripts: StoredTranscripts, tmp_path: Path) -> None:
    event = published(tmp_path / "t.txt")
    (tmp_path / "t.txt").unlink()

    with pytest.raises(BadInput, match="is gone, or on another host"):
        transcripts.read(event)


@pytest.mark.parametrize(
    ("dataref", "reason"),
    [
        ("file:///dev/zero", "not a regular file"),
        ("file://relative/path", "on the host 'relative'"),
        ("file:///a%00b", "does not name a file"),
        ("file:///dev/null/a", "cannot be read"),
        ("file:///proc/self/environ", "the system's own"),
        (
            "redis:nous:transcript:default/default/other:s:d",
            "no transcript that was uploaded for default/default/default",
        ),
        ("https://example.org/t", "no transcript"),
        ("redis:anything", "no transcript that was uploaded"),
        (None, "no transcript"),
    ],
)
def test_a_reference_to_nothing_readable_is_refused(
    transcripts: StoredTranscripts, dataref: str | None, reason: str
) -> None:
    with pytest.raises(BadInput, match=reason):
        transcripts.read(ended(dataref=dataref))


@pytest.fixture
def confined(store: WholeStore, tmp_path: Path) -> StoredTranscripts:
    """Those of a worker that reads in the folder `ours` alone."""
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours too").mkdir()
    return StoredTranscripts(store, KEYS, readable=[tmp_path / "ours"], largest=1000)


def test_a_worker_with_folders_of_its_own_reads_in_them(confined: StoredTranscripts, tmp_path: Path) -> None:
    (tmp_path / "ours" / "deep").mkdir()

    assert confined.read(published(tmp_path / "ours" / "deep" / "t.txt")).skipped == {}


@pytest.mark.parametrize("name", ["t.txt", "ours too/t.txt", "ours/../t.txt", "ours/link", "ours/folder/t.txt"])
def test_a_worker_with_folders_of_its_own_reads_nowhere_else(
    confined: StoredTranscripts, tmp_path: Path, name: str
) -> None:
    published(tmp_path / "t.txt")
    (tmp_path / "ours" / "link").symlink_to(tmp_path / "t.txt")
    (tmp_path / "ours" / "folder").symlink_to(tmp_path)
    published(tmp_path / "ours too" / "t.txt")

    with pytest.raises(BadInput, match=r"is in no folder of which this worker reads.*worker\.readable"):
        confined.read(ended(dataref=f"file://{tmp_path}/{name.replace(' ', '%20')}"))


def test_a_file_that_is_no_transcript_for_its_size_is_not_read(confined: StoredTranscripts, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has 1,001 bytes; no transcript has more than 1,000"):
        confined.read(published(tmp_path / "ours" / "t.txt", b"a" * 1001))


def test_a_worker_that_cannot_read_a_transcript_does_not_quote_it(ended: Any) -> None:
    transcripts = StoredTranscripts(WholeStore(), StoreKeys())

    with pytest.raises(BadInput) as caught:
        transcripts.read(ended(text="hunter2\x00\x01\x02" * 500))

    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize("packed", [GZIPPED, zlib.compress(TEXT)])
def test_gzip_and_zlib_are_unpacked(packed: bytes) -> None:
    assert unpacked(packed) == TEXT


@pytest.mark.parametrize("packed", [b"", TEXT, GZIPPED[:-9]])
def test_what_cannot_be_unpacked_is_refused(packed: bytes) -> None:
    with pytest.raises(BadInput, match=r"cannot be unpacked|torn"):
        unpacked(packed)


def test_an_upload_cannot_become_a_transcript_of_any_size() -> None:
    bomb = gzip.compress(bytes(10_000_000))

    with pytest.raises(BadInput, match="more than 1,000,000 bytes"):
        unpacked(bomb, largest=1_000_000)
    assert len(unpacked(bomb, largest=10_000_000)) == 10_000_000


def test_a_transcript_that_nobody_would_read_is_not_uploaded() -> None:
    store = WholeStore()

    with pytest.raises(BadInput, match="none of more than 268,435,456 can be uploaded"):
        upload(store, bytes(LARGEST + 1), keys=StoreKeys(), scope=Scope(), session_id="s")
