from pathlib import Path

import orjson
from builders.agent_events import told
from builders.claude import assistant, result, use, user

from nous.transcript import Kind, TranscriptWriter, read_transcript
from nous.transcript.model import SubAgent


def write(path: Path, *records: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    common = {"sessionId": "s1", "isSidechain": False}
    lines = (
        orjson.dumps({"uuid": f"{path.stem}{number}", **common, **record}) for number, record in enumerate(records)
    )
    path.write_bytes(b"\n".join(lines))


def test_claude_codes_sub_agents_are_linked_to_the_calls_that_started_them(tmp_path: Path) -> None:
    session = tmp_path / "s1.jsonl"
    apart = tmp_path / "s1" / "subagents" / "agent-a37a9c9.jsonl"
    write(
        session,
        user("look"),
        assistant(use("Task", own="t1", prompt="Find it")),
        result([{"type": "text", "text": "found"}, {"type": "text", "text": "agentId: a37a9c9 (to resume)"}], own="t1"),
    )
    write(apart, user("Find it", isSidechain=True, agentId="a37a9c9"))

    transcript = read_transcript(session)

    assert transcript.sub_agents == (SubAgent("a37a9c9", str(apart), "t1"),)
    [prompt] = read_transcript(apart)
    assert (prompt.kind, prompt.text) == (Kind.SUB_AGENT, "Find it")
    assert read_transcript(apart).sub_agents == ()
    assert read_transcript(apart).header.parent_session_id == "s1"


def test_qbits_sub_agents_are_called_after_their_calls(tmp_path: Path) -> None:
    writer = TranscriptWriter("s1", base=tmp_path)
    for kind in ("started", "user_message", "tool_request", "sub_agent_tool_request", "sub_agent_tool_result"):
        writer.append(told(kind))

    [sub_agent] = read_transcript("s1", base=tmp_path).sub_agents

    assert (sub_agent.id, sub_agent.call_id) == ("a1-r1", "r1")
    assert [entry.kind for entry in read_transcript(sub_agent.path)] == [Kind.TOOL_CALL, Kind.ERROR]


def test_a_session_without_sub_agents_has_none(tmp_path: Path) -> None:
    write(tmp_path / "s1.jsonl", user("look"))

    assert read_transcript(tmp_path / "s1.jsonl").sub_agents == ()
