"""Redact at the choke points: content before it is sent, what readers give out, records before a commit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nous.redaction.redactor import Redaction, Redactor
from nous.services.session_intake import Messages
from nous.transcript.model import Transcript
from nous.transcript.redact import redact_content, redact_transcript

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class RedactionService:
    """Redacts and counts: *count* gets the place, and how often each rule found something there."""

    redactor: Redactor
    count: Callable[[str, Mapping[str, int]], object]

    def content(self, content: bytes | str | Messages) -> Any:
        """Return the content of a session, of the same type, as it may be sent."""
        return self._counted("publish", lambda redaction: redact_content(content, redaction))

    def transcript(self, transcript: Transcript) -> Transcript:
        return self._counted("read", lambda redaction: redact_transcript(transcript, redaction))

    def record(self, record: T, *, where: str = "commit") -> T:
        """Return a dataclass or a tuple without secrets. It is the last gate: others have mostly been there before."""
        return self._counted(where, lambda redaction: redaction.record(record))

    def _counted(self, where: str, redact: Callable[[Redaction], T]) -> T:
        redaction = Redaction(self.redactor)
        result = redact(redaction)
        if redaction.counts:
            self.count(where, redaction.counts)
        return result
