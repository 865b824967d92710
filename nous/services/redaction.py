"""Redact content before it is sent or stored, and what a scope has stored already.

The choke points are: content before it is sent, what readers give out, records before a commit.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from nous.domain.fact import Row
from nous.domain.scope import Scope
from nous.knowledge.erase import Erased, reworded
from nous.redaction.redactor import Redaction, Redactor
from nous.services.session_intake import Messages
from nous.transcript.model import Transcript
from nous.transcript.redact import redact_content, redact_transcript, repeats_of

if TYPE_CHECKING:
    from nous.services.erasure import Stores
    from nous.store.redis.erasure import RedisErasure

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

    `looked_at` and `changed` count records by store, `secrets` what was found by rule. Not changed are `uploads`, which
    workers redact when they read them, and `entries` of streams, by type, that hold a secret. Without `is_off_disk`,
    the server's files may still hold what was replaced. A rehearsal (dry run) has changed nothing.
    """

    scope: Scope
    is_rehearsal: bool
    looked_at: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    secrets: Counter[str] = field(default_factory=Counter[str])
    entries: Counter[str] = field(default_factory=Counter[str])
    uploads: int = 0
    is_off_disk: bool = True


@dataclass(slots=True, kw_only=True)
class _Pass:
    """One pass over all records of a scope, whose results are added to *receipt*.

    *known* gets the placeholders of secrets; *count* gets what was found in each changed record.
    """

    redactor: Redactor
    receipt: RedactionReceipt
    known: dict[str, str] = field(default_factory=dict[str, str])
    repeats: Callable[[str], str] | None = None
    count: Callable[[Mapping[str, int]], object] = lambda _: None
    found: Counter[str] = field(default_factory=Counter[str])

    def run(self, store: "RedisErasure", *, dry_run: bool) -> RedactionReceipt:
        scope = self.receipt.scope
        log = self._log(store.rows(scope)) if dry_run else store.rewrite(scope, self._log)
        self._add(LOG_ROWS, len(log.old), sum(row != log.old[at] for row, at in log.rows))
        for what, has_changed in store.rewrite_records(scope, self._record, dry_run=dry_run):
            self._add(what, 1, int(has_changed))
        return self.receipt

    def _add(self, what: str, looked_at: int, changed: int) -> None:
        self.receipt.looked_at[what] += looked_at
        if changed:
            self.receipt.changed[what] += changed
            self.receipt.secrets += self.found
            self.count(self.found)

    def _log(self, rows: Sequence[Row]) -> Erased:
        found = Counter[str]()

        def change(row: Row) -> Row:
            new = self._record(row)
            found.update(self.found)
            return new

        log = reworded(rows, change)
        self.found = found
        return log

    def _record(self, record: T) -> T:
        redaction = Redaction(self.redactor, known=self.known)

        def change(text: str) -> str:
            new = redaction.text(text)
            if self.repeats and (repeated := self.repeats(new)) != new:
                new = redaction.masked(repeated)
            return new if new.strip() or not text.strip() else _EMPTY

        new = redaction.record(record, change)
        self.found = redaction.counts
        return new


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredRedactor:
    """Redacts what a scope has stored; *count* gets what was replaced in a record, by rule.

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
        redactor = self._keyless if dry_run else self.redactor
        first = _Pass(redactor=redactor, receipt=RedactionReceipt(scope=scope, is_rehearsal=dry_run))
        receipt = first.run(self.stores.store, dry_run=True)
        if receipt.changed:
            receipt = RedactionReceipt(scope=scope, is_rehearsal=dry_run)
            second = _Pass(redactor=redactor, receipt=receipt, known=first.known, repeats=repeats_of(first.known))
            if not dry_run:
                second.count = self.count
            second.run(self.stores.store, dry_run=dry_run)
        self._drop_answers(receipt)
        if not dry_run and receipt.changed:
            receipt.is_off_disk = self.stores.bus.purge_files()
        receipt.uploads = self.stores.store.uploads(scope)
        receipt.entries = self._entries(scope)
        return receipt

    @property
    def _keyless(self) -> Redactor:
        """Return a redactor that does not make the installation's key."""
        return replace(self.redactor, key=lambda: None)

    def _drop_answers(self, receipt: RedactionReceipt) -> None:
        answers = self.stores.responses.invalidate(receipt.scope, dry_run=True)
        # Invalidated are also those that are on their way to the cache.
        if (answers or receipt.changed) and not receipt.is_rehearsal:
            self.stores.responses.invalidate(receipt.scope)
        receipt.looked_at += Counter({ANSWERS: answers})
        receipt.changed += Counter({ANSWERS: answers})

    def _entries(self, scope: Scope) -> Counter[str]:
        found = Counter[str]()
        for kind, raw in self.stores.bus.of_scope(scope):
            redaction = Redaction(self._keyless)
            with suppress(RecursionError):  # no reader takes an entry that is nested so deeply
                redaction.value(orjson.loads(raw)["data"])
            found[kind] += bool(redaction.counts)
        return +found
