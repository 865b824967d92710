"""Report on sessions that a publisher has waited for."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from nous.bus.accounting import EventLocation, EventStatus
from nous.bus.base import Priority, PublishReceipt
from nous.cli.publish import troubles
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.services.publisher import Published
from nous.services.session_lifecycle import ChainStep

WHY = "BadInput: /home/ann/a.txt is gone, or on another host: publish it again with its content uploaded"


def handed_over(
    session: str, where: EventStatus, why: str = ""
) -> tuple[tuple[str, Published], dict[UUID, list[ChainStep]]]:
    """A session and how far it is."""
    event_id = uuid4()
    event = SessionEnded(
        id=event_id,
        time=datetime(2026, 1, 1, tzinfo=UTC),
        source="tests",
        scope=Scope(),
        agent_id="a",
        session_id=session,
        trace_id=event_id,
    )
    published = Published(event=event, receipt=PublishReceipt(event_id, Priority.LIVE, "1-0", fresh=True))
    step = ChainStep(worker="episode-summarizer", event_id=event_id, location=EventLocation(where=where, reason=why))
    return (f"{session}.txt", published), {event_id: [step]}


def test_all_of_the_reason_is_told_of_what_failed_with_its_session_and_of_what_is_late_how_many() -> None:
    done, dead, late = (
        handed_over("a", EventStatus.DONE),
        handed_over("b", EventStatus.DEAD, WHY),
        handed_over("c", EventStatus.IN_FLIGHT),
    )

    told = list(troubles([done[0], dead[0], late[0]], done[1] | dead[1] | late[1], missing=["greeter"]))

    assert told == [
        f"b.txt, session b: dead: {WHY}",
        "work waits for greeter, which no process runs: nous worker greeter",
        "1 not finished yet; `nous status SESSION` shows where it is",
    ]
