"""Records as Claude Code writes them."""

from typing import Any

from builders.transcripts import Record


def user(content: object, **more: Any) -> Record:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(*blocks: Record, own: str = "m", **more: Any) -> Record:
    return {"type": "assistant", "message": {"id": own, "role": "assistant", "content": list(blocks), **more}}


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def use(tool: str = "Bash", own: str = "t", **given: Any) -> Record:
    return {"type": "tool_use", "id": own, "name": tool, "input": given}


def result(content: object, own: str = "t", **more: Any) -> Record:
    return user([{"type": "tool_result", "tool_use_id": own, "content": content, **more}])
