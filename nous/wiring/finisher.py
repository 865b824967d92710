"""Who brings sessions to their end, of a world that is built."""

from datetime import timedelta

from nous.runtime.finishing import Finisher
from nous.wiring.world import World

SESSION_KEEPER = "session-keeper"
EPISODE_SUMMARIZER = "episode-summarizer"


def finisher(world: World) -> Finisher:
    return Finisher(
        kit=world.kit,
        bus=world.bus,
        ledger=world.ledger,
        dead=world.dead,
        touches=world.subscription(SESSION_KEEPER),
        ends=world.subscription(EPISODE_SUMMARIZER),
        idle=timedelta(seconds=world.settings.sessions.idle),
    )
