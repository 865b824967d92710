"""Records as Claude Code writes them."""

from itertools import count
from typing import Any

import orjson

from builders.transcripts import Record
from nous.transcript import Entry, Kind, Transcript, parse_transcript

REJECTED = (
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nno, inline it"
)


def read(*records: Record, **options: Any) -> Transcript:
    """The transcript of *records*, each completed with what all have in common."""
    numbers = count(1)
    common = {"sessionId": "s", "isSidechain": False, "cwd": "/w", "gitBranch": "main"}
    lines = (orjson.dumps({"uuid": f"u{next(numbers)}", **common, **record}) for record in records)
    return parse_transcript(b"\n".join(lines), format="claude_code", **options)


def only(transcript: Transcript, kind: Kind) -> list[Entry]:
    return [entry for entry in transcript if entry.kind is kind]


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


def queue(operation: str, content: str | None = None) -> Record:
    return {"type": "queue-operation", "operation": operation, "content": content}


def queued(prompt: object, **more: Any) -> Record:
    return {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt, **more}}
