"""Messages as Gemini CLI records them: what they are, and which say the same."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from nous.transcript.reading.fields import as_shown, as_text
from nous.transcript.reading.gemini.parts import responses_in, texts_in


def kind_of(message: Mapping[str, Any]) -> str:
    """Who wrote it: in a session its type, in the bare API its role."""
    return as_text(message.get("type")) or as_text(message.get("role")) or "no type"


def response_of(call: Mapping[str, Any], own: str) -> object:
    """What answers the call *own*: beside its answer may stand those of its neighbours. Else what was shown of it."""
    responses = responses_in(call.get("result"))
    found = next((response for response in responses if response.get("id") == own), next(iter(responses), {}))
    texts = "\n\n".join(texts_in(call.get("result")))
    return found.get("response") or {"output": texts or as_shown(call.get("resultDisplay"))}


def mark_of(message: Mapping[str, Any]) -> str:
    """What tells the words of a message from others; nothing if it has none."""
    words = "\n\n".join(text.strip() for text in texts_in(message.get("content", message.get("parts"))))
    role = "user" if kind_of(message) == "user" else "model"
    return blake2b(f"{role} {words}".encode(errors="replace"), digest_size=12).hexdigest() if words else ""
