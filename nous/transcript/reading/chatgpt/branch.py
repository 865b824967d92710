"""The branch of a conversation that its user sees."""

from collections.abc import Mapping
from typing import Any

from nous.transcript.reading.fields import as_list, as_object, as_text


def branch(conversation: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The messages from the first to the current one, each after the id of its node.

    Where the current node is not in the tree, it is the one that was written last.
    """
    mapping = {own: as_object(node) for own, node in as_object(conversation.get("mapping")).items()}
    parents = {as_text(child): own for own, node in mapping.items() for child in as_list(node.get("children"))}
    current = as_text(conversation.get("current_node"))
    path: dict[str, dict[str, Any]] = {}
    at = current if current in mapping else _newest(mapping)
    while at in mapping and at not in path:
        path[at] = mapping[at]
        at = as_text(mapping[at].get("parent")) or parents.get(at, "")
    found = [(own, as_object(node.get("message"))) for own, node in reversed(path.items())]
    return [(own, message) for own, message in found if message]


def messages_in(conversation: Mapping[str, Any]) -> int:
    """How many messages the tree holds, on all of its branches."""
    nodes = as_object(conversation.get("mapping")).values()
    return sum(bool(as_object(as_object(node).get("message"))) for node in nodes)


def _newest(mapping: Mapping[str, Mapping[str, Any]]) -> str:
    newest = ""
    when: float = 0
    for own, node in mapping.items():
        message = as_object(node.get("message"))
        time = message.get("create_time")
        written = time if isinstance(time, int | float) else when
        if message and written >= when:
            newest, when = own, written
    return newest
