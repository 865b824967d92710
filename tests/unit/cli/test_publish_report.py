"""Report on sessions that a publisher has waited for."""

from collections.abc import Callable
from uuid import UUID

from nous.bus.accounting import EventLocation, EventStatus
from nous.bus.base import Priority, PublishReceipt
from nous.cli.publish import troubles
from nous.domain.events import SessionEnded
from nous.services.publisher import Published
from nous.services.session_lifecycle import ChainStep

WHY = "BadInput: /home/ann/a.txt is gone, or on another host: publish it again with its content uploaded"


def test_all_of_the_reason_is_told_of_what_failed_with_its_session_and_of_what_is_late_how_many(
    ended: Callable[..., SessionEnded],
) -> None:
    stages = {"a": (EventStatus.DONE, ""), "b": (EventStatus.DEAD, WHY), "c": (EventStatus.IN_FLIGHT, "")}
    submitted: list[tuple[str, Published]] = []
    chains: dict[UUID, list[ChainStep]] = {}
    for session, (where, why) in stages.items():
        event = ended(session)
        receipt = PublishReceipt(event.id, event.session_id, Priority.LIVE, "1-0", fresh=True)
        submitted.append((f"{session}.txt", Published(event=event, receipt=receipt)))
        location = EventLocation(where=where, reason=why)
        chains[event.id] = [ChainStep(worker="episode-summarizer", event_id=event.id, location=location)]

    assert list(troubles(submitted, chains)) == [
        f"b.txt, session b: dead: {WHY}",
        "1 not finished yet; `nous status SESSION` shows where it is",
    ]
