"""What a handler may give back."""

from uuid import UUID

import pytest

from nous.domain.effects import Effects, ExpectEpisode, RecordResummaryAttempt
from nous.domain.scope import Scope

ONE, OTHER = UUID(int=1), UUID(int=2)


def expected(episode: UUID, state: str) -> ExpectEpisode:
    return ExpectEpisode(scope=Scope(), episode_id=episode, state=state)


def test_effects_that_write_to_one_place_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="two writes to the same place"):
        Effects(writes=(expected(ONE, "a"), expected(ONE, "b")))


def test_effects_may_write_to_many_places() -> None:
    tried = RecordResummaryAttempt(scope=Scope(), episode_id=ONE, by="a model")

    assert len(Effects(writes=(expected(ONE, "a"), expected(OTHER, "a"), tried)).writes) == 3
