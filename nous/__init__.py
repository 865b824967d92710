"""nous turns agent sessions into memory: episodes and facts, each once, each traceable to the turn it came from.

import nous

nous.publish("session.jsonl")
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from nous.bus.base import PublishReceipt

__all__ = ["publish", "record_decision", "touch"]


def publish(  # noqa: PLR0913  (each says something of its own)
    session: str | Path | Sequence[Mapping[str, Any]],
    *,
    session_id: str | None = None,
    scope: str = "default",
    agent_id: str = "default",
    upload: bool = False,
    durable: bool = False,
    compacting: bool = False,
    format: str | None = None,  # noqa: A002  the option is called --format
    again: bool = False,
) -> "Sequence[PublishReceipt]":
    """Hand over a session that has ended; workers turn it into an episode and facts.

    *session* is the path of a transcript in any format that nous reads, the text of one (anything with a line break),
    or a list of chat messages. A file is referred to, unless *upload* sends what it says along, for workers on other
    hosts. *durable* waits until the server's disk has the event. Publishing the same session again adds nothing.
    *compacting* says that the session goes on, and that its agent is about to forget the beginning: workers then keep
    its anchored summary. *format* names what wrote a transcript that does not show it.
    *again* lets a session back that was forgotten.

    Returns a receipt for each session in the file, usually one.

    Raises:
        NotFound: there is no such file.
        BadInput: it cannot be read, is of no known format, was forgotten, or no session can have that id.
        Misconfigured, Unavailable: the settings or the server do not do.
    """
    # Imported here so that `import nous` costs a program nothing until it publishes.
    from nous.app.services import default_producer  # noqa: PLC0415
    from nous.domain.scope import Scope  # noqa: PLC0415
    from nous.services.session_intake import SessionMetadata  # noqa: PLC0415

    about = SessionMetadata(
        scope=Scope.parse(scope), agent_id=agent_id, session_id=session_id, compacting=compacting, format=format
    )
    published = default_producer().publish(session, about, upload=upload, durable=durable, again=again)
    return [each.receipt for each in published]


def record_decision(
    session_id: str,
    description: str,
    *,
    category: str = "decision",
    stakes: str = "unstated",
    confidence: float = 1.0,
    scope: str = "default",
    agent_id: str = "default",
) -> "PublishReceipt":
    """Keep what was decided in a session with the episode that it will become; saying it again adds nothing.

    *session_id* is all of an id, and *confidence* between 0 and 1.

    Raises:
        BadInput: the description is empty, the confidence out of range, or no session can have that id.
        Misconfigured, Unavailable: the settings or the server do not do.
    """
    from nous.app.services import default_producer  # noqa: PLC0415
    from nous.domain.episode import Decision  # noqa: PLC0415
    from nous.domain.errors import BadInput  # noqa: PLC0415
    from nous.domain.scope import Scope  # noqa: PLC0415

    if not description.strip():
        raise BadInput("a decision needs a description")
    if not 0 <= confidence <= 1:
        raise BadInput(f"a confidence of {confidence}: it has to be between 0 and 1")
    decision = Decision(description=description, category=category, stakes=stakes, confidence=confidence)
    return default_producer().record(decision, session_id=session_id, scope=Scope.parse(scope), agent_id=agent_id)


def touch(
    session: str | Path,
    *,
    session_id: str | None = None,
    scope: str = "default",
    agent_id: str = "default",
    background: bool = False,
    format: str | None = None,  # noqa: A002  the option is called --format
    at: "datetime | None" = None,
) -> "PublishReceipt":
    """Say that a session has moved on, so that it is ended and summarized once it is silent for `sessions.idle`.

    *session* is the path of its transcript, or its id where no file is called so; of one that was never touched by a
    path, nobody can read what to summarize. A file is read for its session's id, and not at all where *session_id*
    says it. *background* is a turn that nobody asked for: the session does not count as active for it. *at* is when
    that was, by default now; said again of the same time it is the same event.

    Raises:
        NotFound: there is no such file.
        BadInput: it holds many sessions or none yet, the session was forgotten, or none can have that id.
        Misconfigured, Unavailable: the settings or the server do not do.
    """
    from nous.app.services import default_producer  # noqa: PLC0415
    from nous.domain.scope import Scope  # noqa: PLC0415
    from nous.services.session_intake import SessionMetadata  # noqa: PLC0415

    about = SessionMetadata(scope=Scope.parse(scope), agent_id=agent_id, session_id=session_id, format=format)
    return default_producer().touch(session, about, background=background, at=at).receipt
