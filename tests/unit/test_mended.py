"""What bad input once did, and must not do again."""

from typing import Any

import pytest

from nous.episode import CandidateFact
from nous.errors import BadInput
from nous.learning.learn import LONGEST_TEXT, usable
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.transcripts import StoredTranscripts
from nous.transcript import parse_transcript


def test_a_text_too_long_for_a_fact_is_cut_and_counted() -> None:
    fitting = CandidateFact(text="The port is 8080")

    assert usable([CandidateFact(text="x" * (LONGEST_TEXT + 1)), fitting], cap=50) == ((fitting,), 1)


def test_a_worker_that_cannot_read_a_transcript_does_not_quote_it(ended: Any) -> None:
    transcripts = StoredTranscripts(MemoryStore(), StoreKeys())

    with pytest.raises(BadInput) as caught:
        transcripts.read(ended(text="hunter2\x00\x01\x02" * 500))

    assert "hunter" not in str(caught.value)


def test_of_a_turn_that_is_too_long_the_beginning_is_kept() -> None:
    words = "please remember the thing. "

    transcript = parse_transcript(f"User: {words * 100_000}\n\nAssistant: ok")

    assert transcript.entries[0].text.startswith(words)
    assert transcript.skipped["lines of an endless turn"] > 0
