"""Tokens by scope and day in Redis. The keys stand in `nous.llm.keys`, the scripts in `nous/llm/scripts`."""

from datetime import date
from typing import Any

import redis

from nous.bus.redis_errors import translated
from nous.bus.scripts import Scripts
from nous.llm.books import Reservation, Spending
from nous.llm.keys import LlmKeys
from nous.scope import Scope

_DAY = 24 * 3600
_LIVES = (8 * _DAY, _DAY)
"""Tokens are shown for a week. What is held for a call is asked for until the call is over, which takes no day."""


class RedisAllowance:
    """An `Allowance` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: LlmKeys | None = None) -> None:
        self._client: Any = client
        self._keys = keys or LlmKeys()
        self._run = Scripts(client, package="nous.llm.scripts")

    def reserve(self, reservation: Reservation, *, limit: int) -> bool:
        return bool(self._book("reserve", reservation, reservation.tokens, limit))

    def settle(self, reservation: Reservation, *, spent: int) -> None:
        self._book("settle", reservation, spent)

    def spending(self, day: date) -> tuple[Spending, ...]:
        with translated():
            raw: dict[bytes, bytes] = self._client.hgetall(self._keys.tokens(day))
        tokens = {field.decode(): int(value) for field, value in raw.items()}
        scopes = sorted({Scope.parse(field.partition(":")[2]) for field in tokens})
        return tuple(
            Spending(
                scope=scope, day=day, spent=tokens.get(f"spent:{scope}", 0), reserved=tokens.get(f"reserved:{scope}", 0)
            )
            for scope in scopes
        )

    def _book(self, script: str, reservation: Reservation, *figures: int) -> Any:
        keys = (self._keys.tokens(reservation.day), self._keys.token_calls(reservation.day))
        scope = str(reservation.scope)
        return self._run(script, keys, (scope, f"{scope}/{reservation.id}", *figures, *_LIVES))
