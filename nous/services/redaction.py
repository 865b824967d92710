"""Redact content before it is sent or stored, and what a scope has stored already.

The choke points are: content before it is sent, what readers give out, records before a commit.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from nous.domain.fact import Row
from nous.domain.scope import Scope
from nous.knowledge.erase import Erased, reworded
from nous.redaction.redactor import Redaction, Redactor
from nous.services.session_intake import Messages
from nous.transcript.model import Transcript
from nous.transcript.redact import redact_content, redact_transcript, repeats_of

if TYPE_CHECKING:
    from nous.services.erasure import Stores

T = TypeVar("T")

LOG_ROWS, ANSWERS = "log rows", "cached answers"
_EMPTY = "[private]"
"""Replacement for a text that is private as a whole."""


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
        """Return a dataclass or a tuple without secrets. It is the last gate, after the others."""
        return self._counted(where, lambda redaction: redaction.record(record))

    def _counted(self, where: str, redact: Callable[[Redaction], T]) -> T:
        redaction = Redaction(self.redactor)
        result = redact(redaction)
        if redaction.counts:
            self.count(where, redaction.counts)
        return result


@dataclass(slots=True, kw_only=True)
class RedactionReceipt:
    """Receipt of the redaction of a scope, without any content.

    `looked_at` and `changed` count records by store, `secrets` what was found by rule. Without `is_off_disk`, the
    server's files may still hold what was replaced. A rehearsal (dry run) has changed nothing.
    """

    scope: Scope
    is_rehearsal: bool
    looked_at: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    secrets: Counter[str] = field(default_factory=Counter[str])
    is_off_disk: bool = True

    def add(self, what: str, looked_at: int, changed: int) -> None:
        self.looked_at += Counter({what: looked_at})
        self.changed += Counter({what: changed})


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredRedactor:
    """Redacts what a scope has stored; *count* gets what was replaced, by rule.

    The first pass only finds secrets. The second replaces them, also where the context is missing by which a rule finds
    them. If it breaks off, run it again.
    """

    stores: "Stores"
    redactor: Redactor
    count: Callable[[Mapping[str, int]], object]

    def redact(self, scope: Scope, *, dry_run: bool = False) -> RedactionReceipt:
        """Redact, or only count.

        Raises `Retryable` if others kept appending to the fact log, and `Misconfigured` if a record cannot be read.
        """
        # A dry run does not make the installation's key.
        redactor = replace(self.redactor, key=lambda: None) if dry_run else self.redactor
        first = Redaction(redactor)
        receipt = self._pass(scope, first, first.text, dry_run=True)
        if receipt.changed:
            second = Redaction(redactor, known=first.known)
            receipt = self._pass(scope, second, _with_repeats(second), dry_run=dry_run)
            if not dry_run:
                self.count(second.counts)
        answers = self.stores.responses.invalidate(scope, dry_run=True)
        # Invalidated are also those that are on their way to the cache.
        if (answers or receipt.changed) and not dry_run:
            self.stores.responses.invalidate(scope)
        receipt.add(ANSWERS, answers, answers)
        if receipt.changed and not dry_run:
            receipt.is_off_disk = self.stores.bus.purge_files()
        receipt.is_rehearsal = dry_run
        return receipt

    def _pass(
        self, scope: Scope, redaction: Redaction, change: Callable[[str], str], *, dry_run: bool
    ) -> RedactionReceipt:
        """Replace the texts of all records of *scope* by *change*, or only count with *dry_run*."""

        def changed(text: str) -> str:
            new = change(text)
            return new if new.strip() or not text.strip() else _EMPTY

        def record(each: T) -> T:
            return redaction.record(each, changed)

        def log(rows: Sequence[Row]) -> Erased:
            return reworded(rows, record)

        store = self.stores.store
        receipt = RedactionReceipt(scope=scope, is_rehearsal=dry_run, secrets=redaction.counts)
        found = log(store.rows(scope)) if dry_run else store.rewrite(scope, log)
        receipt.add(LOG_ROWS, len(found.old), sum(row != found.old[at] for row, at in found.rows))
        for what, has_changed in store.rewrite_records(scope, record, dry_run=dry_run):
            receipt.add(what, 1, int(has_changed))
        return receipt


def _with_repeats(redaction: Redaction) -> Callable[[str], str]:
    """Return a change of a text that replaces known secrets also where no rule finds them."""
    repeats = repeats_of(redaction.known) or str

    def change(text: str) -> str:
        new = redaction.text(text)
        repeated = repeats(new)
        return new if repeated == new else redaction.masked(repeated)

    return change
