"""The content of a message in a ChatGPT export, by its type."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from nous.transcript.reading.fields import as_arguments, as_list, as_object, as_text

_TEXTS = ("text", "result", "summary", "content", "model_set_context", "user_profile", "user_instructions")
_ABOUT = ("about_user_message", "about_model_message")


class Content(NamedTuple):
    """Its text, and what in it is none."""

    text: str
    passed: tuple[str, ...]


def content_of(message: Mapping[str, Any]) -> Content:
    content = as_object(message.get("content"))
    kind = str(content.get("content_type"))
    if "parts" in content:
        return _of_parts(content["parts"])
    if kind == "thoughts":
        return Content(_thoughts(content), ())
    if kind == "tether_quote":
        return Content("\n".join(filter(None, (as_text(content.get(key)) for key in ("title", "url", "text")))), ())
    if kind == "system_error":
        return Content(": ".join(filter(None, (as_text(content.get(key)) for key in ("name", "text")))), ())
    found = [text for key in _TEXTS if (text := as_text(content.get(key)).strip("\n"))]
    if kind == "user_editable_context":
        return Content("\n\n".join(found), ())
    return Content(found[0] if found else "", () if found else (f"{kind} content",))


def standing_instructions(message: Mapping[str, Any]) -> str:
    """What the user wants ChatGPT to know in every conversation."""
    about = as_object(as_object(message.get("metadata")).get("user_context_message_data"))
    said = "\n\n".join(filter(None, (as_text(about.get(key)).strip() for key in _ABOUT)))
    return content_of(message).text.strip() or said


def given_to_tool(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a call hands to its tool: JSON, or else code or text."""
    text = content_of(message).text
    given = as_arguments(text)
    if not text or given != {"arguments": text}:
        return given
    return {"code" if as_object(message.get("content")).get("content_type") == "code" else "text": text}


def _of_parts(parts: object) -> Content:
    texts: list[str] = []
    passed: list[str] = []
    for part in as_list(parts):
        text = part if isinstance(part, str) else as_object(part).get("text")
        if isinstance(text, str):
            texts.append(text)
        else:
            passed.append(f"{as_object(part).get('content_type')} part")
    return Content("\n\n".join(filter(None, texts)), tuple(passed))


def _thoughts(content: Mapping[str, Any]) -> str:
    thoughts = map(as_object, as_list(content.get("thoughts")))
    said = (as_text(thought.get("content")) or as_text(thought.get("summary")) for thought in thoughts)
    return "\n\n".join(filter(None, said))
