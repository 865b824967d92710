"""Anchored summaries in Redis. How they are written stands in `nous.store.plans`."""

from typing import cast

import redis

from nous.bus.redis_errors import translated
from nous.errors import Misconfigured
from nous.scope import Scope
from nous.store.keys import StoreKeys, anchor_name
from nous.store.records import decode
from nous.summary.anchored.anchor import Anchor
from nous.summary.anchored.model import AnchoredSummary


class RedisAnchors:
    """`Anchors` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client = client
        self._keys = keys

    def anchor(self, scope: Scope, *, agent_id: str, session_id: str) -> Anchor | None:
        """The anchor that is stored.

        Raises:
            Misconfigured: its summary has another schema version than this release's.
        """
        with translated():
            stored = self._client.hget(self._keys.anchors(scope), anchor_name(agent_id, session_id))
        return _read(stored) if isinstance(stored, bytes) else None

    def latest(self, scope: Scope) -> Anchor | None:
        """The anchor that was made last; every one of the scope is read for it.

        Raises:
            Misconfigured: as `anchor` does.
        """
        with translated():
            stored = cast("list[bytes]", self._client.hvals(self._keys.anchors(scope)))
        return max(map(_read, stored), key=lambda found: found.at, default=None)


def _read(stored: bytes) -> Anchor:
    found = decode(Anchor, stored)
    if found.summary.schema_version != AnchoredSummary.SCHEMA_VERSION:
        raise Misconfigured(f"the anchored summary of session {found.session_id!r} needs another release of nous")
    return found
