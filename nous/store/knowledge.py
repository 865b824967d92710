"""What a process remembers of the scopes it works on, so that it reads only what was added to a log since."""

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock

from nous.embed.base import Embedder
from nous.learning.known import Knowledge
from nous.scope import Scope
from nous.store.base import FactLog


@dataclass(slots=True)
class _Remembered:
    lock: RLock = field(default_factory=RLock)
    knowledge: Knowledge | None = None


class FactMemory:
    """The knowledge of the scopes used last, one for each embedder; shared by the threads of a process."""

    def __init__(self, *, scopes: int = 64) -> None:
        """Remember at most *scopes* of them."""
        self._most = scopes
        self._lock = Lock()
        self._scopes: OrderedDict[tuple[Scope, str, int], _Remembered] = OrderedDict()

    @contextmanager
    def current(self, log: FactLog, scope: Scope, embedder: Embedder) -> Generator[Knowledge]:
        """What *scope* knows now, for reading; nobody else changes it before the `with` ends.

        Raises:
            Unavailable: the log did not answer.
            Misconfigured: the log holds vectors of this embedder with another dimension.
        """
        remembered = self._remembered((scope, embedder.id, embedder.dim))
        with remembered.lock:
            known, remembered.knowledge = remembered.knowledge, None
            remembered.knowledge = knowledge = _caught_up(known, log, scope, embedder)
            yield knowledge

    def _remembered(self, key: tuple[Scope, str, int]) -> _Remembered:
        with self._lock:
            remembered = self._scopes.setdefault(key, _Remembered())
            self._scopes.move_to_end(key)
            if len(self._scopes) > self._most:
                self._scopes.popitem(last=False)
            return remembered


def _caught_up(known: Knowledge | None, log: FactLog, scope: Scope, embedder: Embedder) -> Knowledge:
    """*known* with what the log has more, or a new one where the log no longer continues what was known."""
    added = log.read(scope, after=known.version if known else None)
    if known is None or added.complete:
        known = Knowledge(embedder_id=embedder.id, dim=embedder.dim)
    known.extend(added.rows, added.vectors)
    known.version = added.version
    return known
