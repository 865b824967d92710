"""What foreign events and imports have brought is shown without what steers a terminal, but to programs as it is."""

from dataclasses import replace

import pytest
from builders.command_line import Nous
from builders.episodes import HOME, episode

from nous.app.container import Container
from nous.domain.effects import Effects, SaveEpisode

STEERING = "\x1b", "\r", "\x9b", "\x07", "\u202e", "\u2066"
EVIL = f"paid{''.join(STEERING)}back"


def remember(container: Container) -> None:
    known = episode("evil")
    told = replace(known.summary, title=EVIL, outcome_rationale=EVIL, key_points=(EVIL,), open_threads=(EVIL,))
    container.bus.apply(Effects(writes=(SaveEpisode(episode=replace(known, summary=told, dataref=f"file:///{EVIL}")),)))


def steering(shown: str) -> list[str]:
    return [sign for sign in STEERING if sign in shown]


@pytest.mark.parametrize("command", [("episodes",), ("search", "paid back"), ("context",)])
def test_nothing_that_is_shown_of_an_episode_steers_a_terminal(
    nous: Nous, container: Container, command: tuple[str, ...]
) -> None:
    remember(container)

    shown = nous(*command, "--scope", str(HOME))

    assert "back" in shown.stdout
    assert steering(shown.output) == []
