"""Public API of nous, memory for agents: publish sessions, record decisions, search facts.

Each fact is stored once, and each can be traced to its source. A call without a scope uses that of the session's
working directory, or else of the process's. Every function raises `Misconfigured` for unusable settings, and
`Unavailable` if the server does not answer.

import nous

nous.publish("session.jsonl")
nous.search("which port does staging use?")
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from nous.domain.errors import BadInput, Misconfigured, NotFound, Unavailable

if TYPE_CHECKING:
    from datetime import datetime

    from nous.bus.base import PublishReceipt
    from nous.context.compiler import CompiledContext
    from nous.domain.scope import Scope
    from nous.knowledge.statement import KnownFact
    from nous.retrieval.query import Hit
    from nous.services.memory import SessionMemory
    from nous.services.session_intake import SessionMetadata

__all__ = [
    "BadInput",
    "Misconfigured",
    "NotFound",
    "Unavailable",
    "context",
    "facts",
    "publish",
    "record_decision",
    "search",
    "show",
    "touch",
]

# Functions import what they need when they are called, so that `import nous` costs a program nothing.


def publish(  # noqa: PLR0913  (each parameter is a fact about the session)
    session: str | Path | Sequence[Mapping[str, Any]],
    *,
    session_id: str | None = None,
    scope: str | None = None,
    agent_id: str = "default",
    upload: bool = False,
    durable: bool = False,
    compacting: bool = False,
    format: str | None = None,  # noqa: A002  the option is called --format
    again: bool = False,
) -> "Sequence[PublishReceipt]":
    """Publish a session that has ended; workers turn it into an episode and facts.

    *session* is the path of a transcript in any format that nous reads, the text of one (anything with a line break),
    or a list of chat messages. Publishing is idempotent: the same session again adds nothing.

    *upload* sends the file's content along, for workers on other hosts; by default the event refers to the file.
    *durable* waits until the server's disk has the event. *compacting* marks a session that goes on while its agent
    drops the beginning: workers then update its anchored summary. *format* overrides format detection. *again*
    readmits a session that was erased.

    Returns a receipt, with the session id, for each session in the file, usually one.

    Raises:
        NotFound: there is no such file.
        BadInput: the file cannot be read, has no known format, was erased, or the id is unusable.
    """
    from nous.app.container import default_container  # noqa: PLC0415
    from nous.app.services import producer_of  # noqa: PLC0415

    about = _about(scope, agent_id=agent_id, session_id=session_id, compacting=compacting, format=format)
    published = producer_of(default_container()).publish(session, about, upload=upload, durable=durable, again=again)
    return [each.receipt for each in published]


def record_decision(
    session_id: str,
    description: str,
    *,
    category: str = "decision",
    stakes: str = "unstated",
    confidence: float = 1.0,
    scope: str | None = None,
    agent_id: str = "default",
) -> "PublishReceipt":
    """Record a decision of a running session; its episode will list it. Idempotent.

    *session_id* is the whole id, and *confidence* between 0 and 1.

    Raises:
        BadInput: the description is blank, the confidence out of range, or the id unusable.
    """
    from nous.app.container import default_container  # noqa: PLC0415
    from nous.app.services import producer_of  # noqa: PLC0415
    from nous.domain.episode import Decision  # noqa: PLC0415

    decision = Decision(description=description, category=category, stakes=stakes, confidence=confidence)
    return producer_of(default_container()).record(
        decision, session_id=session_id, scope=_scope(scope), agent_id=agent_id
    )


def touch(
    session: str | Path,
    *,
    session_id: str | None = None,
    scope: str | None = None,
    agent_id: str = "default",
    background: bool = False,
    format: str | None = None,  # noqa: A002  the option is called --format
    at: "datetime | None" = None,
) -> "PublishReceipt":
    """Record a heartbeat of a session.

    Once the session was idle for `sessions.idle`, workers end and summarize it.

    *session* is the path of its transcript, or its id where no such file exists. A session that was never touched by
    a path cannot be summarized. A file is read for its session's id, unless *session_id* gives it. *background* is a
    turn without a user; it does not count as activity. *at* defaults to now; the same time again is the same event.

    Raises:
        NotFound: there is no such file.
        BadInput: the file holds many sessions or none yet, the session was erased, or the id is unusable.
    """
    from nous.app.container import default_container  # noqa: PLC0415
    from nous.app.services import producer_of  # noqa: PLC0415

    about = _about(scope, agent_id=agent_id, session_id=session_id, format=format)
    return producer_of(default_container()).touch(session, about, background=background, at=at).receipt


def search(query: str, *, scope: str | None = None, limit: int = 10) -> "Sequence[Hit]":
    """Find the facts and episodes of a scope that answer *query*, best first.

    Raises `BadInput` for a blank query.
    """
    from nous.app.container import default_container  # noqa: PLC0415
    from nous.retrieval.query import Filters  # noqa: PLC0415
    from nous.services.memory import search_memory  # noqa: PLC0415

    return search_memory(default_container().memory, query, _scope(scope), filters=Filters(), limit=limit).hits


def facts(*, scope: str | None = None, superseded: bool = False) -> "Sequence[KnownFact]":
    """List the facts of a scope as learned; *superseded* includes those that others replaced."""
    from nous.app.container import default_container  # noqa: PLC0415
    from nous.services.memory import known_facts  # noqa: PLC0415

    return known_facts(default_container().memory, _scope(scope), superseded=superseded)


class ContextPackage(ModuleType):
    """The package `nous.context`. It has `compile`, and can be called for notes."""

    compile: "Callable[..., CompiledContext]"

    def __call__(self, query: str = "", *, scope: str | None = None, budget: int | None = None) -> str:
        """Write the notes that a new session should start with; empty where the scope holds nothing.

        Facts near *query* come first. *budget* limits the notes, in characters.
        """
        from nous.app.container import default_container  # noqa: PLC0415
        from nous.context.notes import LONGEST, block  # noqa: PLC0415
        from nous.services.memory import context_notes  # noqa: PLC0415

        notes, _ = context_notes(default_container().memory, query, _scope(scope))
        return block(notes, budget=LONGEST if budget is None else budget)


# A module's class may be set (Python's data model, "Customizing module attribute access"). So one name serves for both,
# whether or not the package was imported.
context = cast("ContextPackage", import_module("nous.context"))
context.__class__ = ContextPackage


def show(name: str, *, scope: str | None = None) -> "SessionMemory":
    """Return the episode of a session and the facts it is a source of.

    *name* is the id of the session, or that of the episode or a unique prefix of it.

    Raises:
        NotFound: the scope has no such episode.
        BadInput: *name* is ambiguous.
    """
    from nous.app.container import default_container  # noqa: PLC0415
    from nous.services.memory import find_episode, session_memory  # noqa: PLC0415

    context = default_container().memory
    return session_memory(context, find_episode(context, name, _scope(scope)))


def _about(scope: str | None, **stated: Any) -> "SessionMetadata":
    from nous.domain.scope import Scope  # noqa: PLC0415
    from nous.services.session_intake import SessionMetadata  # noqa: PLC0415
    from nous.services.workspace import working_directory  # noqa: PLC0415

    named = None if scope is None else Scope.parse(scope)
    return SessionMetadata(scope=named, cwd=working_directory(), **stated)


def _scope(named: str | None) -> "Scope":
    from nous.app.container import default_container  # noqa: PLC0415
    from nous.domain.scope import Scope  # noqa: PLC0415
    from nous.services.workspace import working_directory  # noqa: PLC0415

    if named is not None:
        return Scope.parse(named)
    return default_container().session_scopes.of_directory(working_directory())


def __dir__() -> list[str]:
    return __all__
