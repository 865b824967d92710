"""One event of every type, as the programs write them."""

from collections.abc import Mapping
from typing import Any

STATS = {
    "tool_name": "bash",
    "total_requests": 3,
    "approvals": 2,
    "denials": 1,
    "always_allow": False,
    "last_updated": "2026-01-01T00:00:00Z",
    "justifications": ["why not"],
}
MAIN = {"type": "main"}
OF_AGENT = {"type": "sub_agent", "agent_id": "a1", "agent_name": "explorer"}
OF_STEP = {"type": "workflow", "workflow_id": "w1", "workflow_name": "release", "step_name": "tag", "step_index": 2}
TASK = {"task_id": "k1"}
SUBTASK = {**TASK, "subtask_id": "k1.1"}
OF_CALL = {"request_id": "r1", "tool_name": "bash"}
CALL = {**OF_CALL, "args": {"command": "ls"}}
LOOP = {"tool_name": "bash", "max_count": 5, "message": "again"}
HELPER = {"agent_id": "a1", "parent_request_id": "r1"}

EVENTS: Mapping[str, Mapping[str, Any]] = {
    "started": {"turn_id": "t1"},
    "user_message": {"content": "Grüß Gott 안녕"},
    "system_hooks_injected": {"hooks": ["be brief"]},
    "text_delta": {"delta": "a", "accumulated": "a"},
    "tool_request": {**CALL, "source": MAIN},
    "tool_approval_request": {
        **CALL,
        "stats": STATS,
        "risk_level": "high",
        "can_learn": True,
        "suggestion": None,
        "source": OF_AGENT,
    },
    "tool_auto_approved": {**CALL, "reason": "always allowed", "source": OF_STEP},
    "tool_denied": {**CALL, "reason": "too risky", "source": MAIN},
    "tool_result": {**OF_CALL, "result": {"stdout": "x", "code": 0}, "success": True, "source": MAIN},
    "tool_output_chunk": {**OF_CALL, "chunk": "x", "stream": "stderr", "source": MAIN},
    "reasoning": {"content": "hm"},
    "completed": {"response": "Done.", "input_tokens": 200, "output_tokens": 100, "duration_ms": None},
    "error": {"message": "no key", "error_type": "auth"},
    "sub_agent_started": {**HELPER, "agent_name": "explorer", "task": "look", "depth": 1},
    "sub_agent_tool_request": {**HELPER, **CALL, "request_id": "r2"},
    "sub_agent_tool_result": {**HELPER, **OF_CALL, "request_id": "r2", "success": False, "result": "no"},
    "sub_agent_completed": {**HELPER, "response": "found it", "duration_ms": 12},
    "sub_agent_error": {**HELPER, "error": "gone"},
    "context_warning": {"utilization": 0.75, "total_tokens": 75, "max_tokens": 100},
    "tool_response_truncated": {"tool_name": "bash", "original_tokens": 9, "truncated_tokens": 5},
    "warning": {"message": "careful"},
    "compaction_started": {"tokens_before": 9, "messages_before": 3},
    "compaction_completed": {
        "tokens_before": 9,
        "messages_before": 3,
        "messages_after": 1,
        "summary_length": 4,
        "summary": "so far",
        "summarizer_input": None,
    },
    "compaction_failed": {"tokens_before": 9, "messages_before": 3, "error": "no", "summarizer_input": None},
    "loop_warning": {**LOOP, "current_count": 3},
    "loop_blocked": {**LOOP, "repeat_count": 5},
    "max_iterations_reached": {"iterations": 9, "max_iterations": 9, "message": "enough"},
    "workflow_started": {"workflow_id": "w1", "workflow_name": "release", "session_id": "s1"},
    "workflow_step_started": {"workflow_id": "w1", "step_name": "tag", "step_index": 0, "total_steps": 2},
    "workflow_step_completed": {"workflow_id": "w1", "step_name": "tag", "output": None, "duration_ms": 5},
    "workflow_completed": {"workflow_id": "w1", "final_output": "v1", "total_duration_ms": 9},
    "workflow_error": {"workflow_id": "w1", "step_name": None, "error": "no"},
    "plan_updated": {
        "version": 1,
        "summary": {"total": 1, "completed": 0, "in_progress": 1, "pending": 0},
        "steps": [{"step": "look", "status": "in_progress"}],
        "explanation": None,
    },
    "server_tool_started": {"request_id": "r1", "tool_name": "web_search", "input": {"query": "x"}},
    "web_search_result": {"request_id": "r1", "results": [{"url": "https://x.org"}]},
    "web_fetch_result": {"request_id": "r1", "url": "https://x.org", "content_preview": "x"},
    "prompt_generation_started": {**HELPER, "architect_system_prompt": "s", "architect_user_message": "u"},
    "prompt_generation_completed": {**HELPER, "generated_prompt": None, "success": False, "duration_ms": 3},
    # of a fork
    "sub_agent_text_delta": {**HELPER, "delta": "a", "accumulated": "a"},
    "ask_human_request": {
        "request_id": "q1",
        "question": "Which?",
        "input_type": "choice",
        "options": ["a", "b"],
        "context": "",
    },
    "ask_human_response": {"request_id": "q1", "response": "a", "skipped": False},
    "task_progress": {**TASK, "status": "running", "message": "half"},
    "subtask_created": {**SUBTASK, "title": "Look", "agent": None},
    "subtask_completed": {**SUBTASK, "title": "Look", "result": "seen"},
    "subtask_waiting_for_input": {**SUBTASK, "title": "Look", "prompt": "Where?"},
    "subtask_user_input": {**SUBTASK, "input": "there"},
    "task_resumed": {**TASK, "subtask_index": 1, "total_subtasks": 3},
    "enricher_result": {**SUBTASK, "context_added": "names"},
    # no longer written
    "context_pruned": {"messages_removed": 3, "tokens_freed": 9, "utilization_before": 0.9, "utilization_after": 0.5},
}


def told(kind: str, **fields: Any) -> dict[str, Any]:
    """An event of the type *kind*, with some fields other than usual."""
    return {"type": kind, **EVENTS[kind], **fields}


ALL = tuple(told(kind) for kind in EVENTS)
