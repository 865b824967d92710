"""Programs of the Claude Agent SDK: its client runs, and a transport answers in place of its command line."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk comes with nous-bus[dev]")

from builders.claude import assistant, text, user
from builders.sdks import RULE, ends, learned_of, received
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport

from nous import publish
from nous.domain.events import SessionCompacting, SessionTouched
from nous.hosts.sdks.claude_agent import memory_hooks

SESSION = "5f0d8b1e-0000-4000-8000-000000000001"


class CommandLine(Transport):
    """The command line, which asks for the hooks of *events* in order; `answers` are what they returned."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self._events = events
        self._lines: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._hooks: dict[str, str] = {}
        self.answers: list[dict[str, Any]] = []
        self.is_done = asyncio.Event()

    async def connect(self) -> None: ...

    async def close(self) -> None: ...

    async def end_input(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def write(self, data: str) -> None:
        line = json.loads(data)
        if line["type"] == "control_request":
            found = line["request"].get("hooks", {})
            self._hooks = {name: matchers[0]["hookCallbackIds"][0] for name, matchers in found.items()}
            answer = {"subtype": "success", "request_id": line["request_id"], "response": {}}
            self._lines.put_nowait({"type": "control_response", "response": answer})
        else:
            self.answers.append(line["response"].get("response", line["response"]))
        if len(self.answers) == len(self._events):
            self.is_done.set()
            return
        given = self._events[len(self.answers)]
        request = {"subtype": "hook_callback", "callback_id": self._hooks[given["hook_event_name"]], "input": given}
        line = {"type": "control_request", "request_id": f"r{len(self.answers)}", "request": request}
        self._lines.put_nowait(line)

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while True:
            yield await self._lines.get()


def called(path: Path, *names: str, scope: str = "shop", prompt: str = "Hello") -> list[dict[str, Any]]:
    """The answers of the hooks *names*, as the command line gets them."""
    common = {"session_id": SESSION, "transcript_path": str(path), "cwd": str(path.parent)}
    own: dict[str, dict[str, Any]] = {
        "UserPromptSubmit": {"prompt": prompt},
        "Stop": {"stop_hook_active": False},
        "PreCompact": {"trigger": "auto", "custom_instructions": None},
    }

    async def run() -> list[dict[str, Any]]:
        line = CommandLine(*({**common, "hook_event_name": name, **own[name]} for name in names))
        async with ClaudeSDKClient(ClaudeAgentOptions(hooks=memory_hooks(scope=scope)), transport=line):
            await line.is_done.wait()
        return line.answers

    return asyncio.run(run())


def write(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    known = [{"sessionId": SESSION, "uuid": f"u{number}", **record} for number, record in enumerate(records)]
    path.write_text("".join(json.dumps(record) + "\n" for record in known))
    return path


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write(tmp_path / f"{SESSION}.jsonl", [user("Which port?"), assistant(text("9017."))])


@pytest.mark.usefixtures("own_process")
def test_a_stop_is_a_heartbeat_and_a_compaction_publishes_what_there_is(transcript: Path) -> None:
    assert called(transcript, "UserPromptSubmit", "Stop", "PreCompact", "Stop") == [{}, {}, {}, {}]

    found = [*received(SessionTouched), *received(SessionCompacting)]
    assert {(event.session_id, str(event.scope), event.dataref) for event in found} == {
        (SESSION, "default/default/shop", transcript.as_uri())
    }
    assert len(found) == 3
    assert ends() == []


@pytest.mark.usefixtures("no_server")
def test_hooks_answer_without_a_server_and_say_so_once(transcript: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert called(transcript, "UserPromptSubmit", "Stop", "PreCompact") == [{}, {}, {}]

    assert [record.levelno for record in caplog.records if "without its memory" in record.message] == [logging.WARNING]


@pytest.mark.usefixtures("own_process")
def test_a_session_without_a_file_yet_is_no_error(tmp_path: Path) -> None:
    assert called(tmp_path / "none.jsonl", "Stop", "PreCompact") == [{}, {}]


@pytest.mark.usefixtures("own_process")
def test_notes_come_once_and_after_a_compaction_and_teach_nothing(transcript: Path, directory: Path) -> None:
    answer = text("We do it on Monday, after the tests of service billing, which listens on port 9017.")

    def run() -> str:
        names = ("UserPromptSubmit", "UserPromptSubmit", "PreCompact", "UserPromptSubmit")
        first, second, _, third = called(transcript, *names, scope="town", prompt="How do we deploy?")
        assert second == {}
        assert first == third
        assert first["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
        notes = first["hookSpecificOutput"]["additionalContext"]
        # Releases keep it as an attachment, or in a reminder.
        attached = {"type": "hook_additional_context", "content": [notes], "hookEvent": "UserPromptSubmit"}
        reminder = f"<system-reminder>\nUserPromptSubmit hook additional context: {notes}\n</system-reminder>"
        records = [
            *(user("How do we deploy?"), {"type": "attachment", "attachment": attached}),
            *(user(reminder, isMeta=True), user(f"{reminder}\nAnd when?"), assistant(answer)),
        ]
        called(write(transcript, records), "PreCompact", scope="town")
        publish(transcript, scope="town")
        return str(notes)

    assert learned_of(run, directory) == [(RULE, 1)]
