"""Parser for Codex events and thread items, most of which repeat the conversation."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.model import Kind
from nous.transcript.parsing.codex.outputs import Output, output_of, output_of_event, output_of_mcp, text_of
from nous.transcript.parsing.codex.responses import ResponseReading, sought
from nous.transcript.parsing.codex.session import ENDING, EVENT, ITEM
from nous.transcript.parsing.codex.user_text import spoken
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_text
from nous.transcript.reader import Draft, RecordPlace

Event = Mapping[str, Any]

_USERS_SHELL = frozenset({"user_shell", "userShell"})
_VERDICTS = frozenset({"approved", "denied", "timed_out", "aborted"})
_DELEGATED = frozenset({"collab_agent_spawn_end", "collab_agent_interaction_end", "collab_close_end"})


@dataclass(slots=True)
class EventReading(ResponseReading):
    """Turns successive events into drafts; `goal` is the last goal that was set."""

    goal: str = ""

    def of_event(self, event: Event, place: RecordPlace) -> Iterable[Draft]:
        kind = str(event.get("type", "no type"))
        match kind:
            case "user_message":
                return self._typed(event, place)
            case "agent_message":
                return self.assistant(as_text(event.get("message")), EVENT, place)
            case "agent_reasoning" | "agent_reasoning_raw_content":
                return self.thoughts([as_text(event.get("text"))], EVENT, place)
            case "task_complete" | "turn_complete":
                return self._completed(event, place)
            case "turn_aborted":
                return self._aborted(event, place)
            case "error" | "stream_error":
                return self.once(place.draft(Kind.ERROR, _why(event), is_error=True), EVENT)
            case "token_count" | "turn.completed":
                self._charge(kind, event)
                return ()
            case _ if "_tool_call" in kind or kind.endswith(("_begin", "_end")):
                return self._work(kind, event, place)
            case _:
                return self._act(kind, event, place)

    def _typed(self, event: Event, place: RecordPlace) -> Iterator[Draft]:
        for name in ("images", "local_images"):
            for _ in as_list(event.get(name)):
                self.notes.skip("image")
        yield from self.user([as_text(event.get("message"))], EVENT, place)

    def _completed(self, event: Event, place: RecordPlace) -> Iterator[Draft]:
        """Yield the last answer of a completed turn, mostly emitted already, and its error."""
        if last := as_text(event.get("last_agent_message")):
            yield from self.assistant(last, ENDING, place)
        else:
            self.notes.skip("task_complete")
        if event.get("error"):
            yield from self.once(place.draft(Kind.ERROR, _why(event), 2, is_error=True), ENDING)
        self.copies.forget()

    def _aborted(self, event: Event, place: RecordPlace) -> Iterator[Draft]:
        reason = as_text(event.get("reason"))
        if reason == "interrupted":
            yield from self.interrupted(place)
        else:
            yield place.draft(Kind.SYSTEM, f"The turn was ended: {reason or 'no reason given'}")
        self.copies.forget()

    def _charge(self, kind: str, event: Event) -> None:
        usage = as_object(as_object(event.get("info")).get("total_token_usage")) or as_object(event.get("usage"))
        self.about.charge(usage or event)
        self.notes.skip(kind)

    def _act(self, kind: str, event: Event, place: RecordPlace) -> Iterable[Draft]:
        """Return drafts of actions on the session, by the user or by Codex."""
        match kind:
            case "context_compacted":
                return (place.draft(Kind.SYSTEM, "Conversation compacted"),)
            case "guardian_assessment":
                return self._assessed(event, place)
            case "thread_rolled_back":
                turns = as_count(event.get("num_turns"))
                return (place.draft(Kind.DECISION, f"Took back the last {turns} turns"),)
            case "undo_completed":
                return (place.draft(Kind.SYSTEM, f"Undo: {as_text(event.get('message')) or 'done'}"),)
            case "thread_name_updated":
                self.about.title = as_text(event.get("thread_name")) or as_text(event.get("name"))
            case "thread_goal_updated":
                return self._aims(as_object(event.get("goal")), place)
            case "thread_settings_applied":
                self.about.settings(as_object(event.get("thread_settings")), self.notes)
            case "entered_review_mode":
                return (place.draft(Kind.SYSTEM, f"Review of {as_text(event.get('user_facing_hint')) or 'changes'}"),)
            case "exited_review_mode":
                return self._reviewed(event, place)
            case _:
                pass
        self.notes.skip(kind)
        return ()

    def _aims(self, goal: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        goal_text = f"Goal ({as_text(goal.get('status')) or 'unknown'}): {as_text(goal.get('objective'))}"
        if goal_text == self.goal:
            self.notes.skip("repeated goal")
            return ()
        self.goal = goal_text
        return (place.draft(Kind.SYSTEM, goal_text),)

    def _assessed(self, event: Event, place: RecordPlace) -> Iterable[Draft]:
        """Return the verdict of an approval review.

        It is a user decision only if the event says so. Otherwise a program decided.
        """
        status = as_text(event.get("status"))
        is_users = event.get("decision_source") == "user"
        if status not in _VERDICTS or (status == "approved" and not is_users):
            self.notes.skip(f"guardian_assessment: {status}" if status in _VERDICTS else "guardian_assessment")
            return ()
        action = as_object(event.get("action"))
        keys = ("command", "program", "tool_name", "target", "reason", "type")
        what = next((text for key in keys if (text := as_text(action.get(key)))), "an action")
        why = as_text(event.get("rationale"))
        verdict = f"{status.replace('_', ' ').capitalize()}: {what}" + (f": {why}" if why else "")
        return (place.draft(Kind.DECISION if is_users else Kind.SYSTEM, verdict),)

    def _reviewed(self, event: Event, place: RecordPlace) -> Iterable[Draft]:
        review = as_object(event.get("review_output"))
        self.review = as_text(review.get("overall_explanation")).strip()
        findings = [as_object(finding) for finding in as_list(review.get("findings"))]
        comments = (f"{as_text(finding.get('title'))}\n{as_text(finding.get('body'))}".strip() for finding in findings)
        text = "\n\n".join(filter(None, (self.review, *comments)))
        if not text:
            self.notes.skip("exited_review_mode")
            return ()
        return (place.draft(Kind.SUB_AGENT, text),)

    def _work(self, kind: str, event: Event, place: RecordPlace) -> Iterable[Draft]:
        """Return drafts of tool calls and their results."""
        call_id = as_text(event.get("call_id")) or as_text(event.get("callId"))
        tool, given = _called(kind, event)
        match kind:
            case "exec_command_end" if str(event.get("source")) in _USERS_SHELL:
                return self.shell(_command(event), output_of_event(event), EVENT, place)
            case "exec_command_begin" | "patch_apply_begin" | "mcp_tool_call_begin" | "dynamic_tool_call_request":
                return self.observe_call(tool, given, call_id, place)
            case "exec_command_end" | "patch_apply_end":
                return self.observe_end(tool, given, call_id, output_of_event(event), place)
            case "mcp_tool_call_end":
                return self.observe_end(tool, given, call_id, output_of_mcp(event), place)
            case "dynamic_tool_call_response":
                return self.observe_end(tool, given, call_id, _answered(event), place)
            case "view_image_tool_call":
                return self.observe_call(tool, given, call_id, place)
            case "web_search_end" | "image_generation_end":
                return self.search(tool, given, call_id, EVENT, place)
            case "collab_waiting_end":
                return self._waited(call_id, event, place)
            case _ if kind in _DELEGATED:
                return self._delegated(kind, call_id, event, place)
            case _:
                self.notes.skip(kind)
                return ()

    def _delegated(self, kind: str, call_id: str, event: Event, place: RecordPlace) -> Iterator[Draft]:
        """Yield the prompt to a sub-agent, or else its answer.

        Skipped if the conversation holds the same call.
        """
        if call_id in self.made:
            self.notes.skip("repeated call")
            return
        name = as_text(event.get("new_agent_nickname")) or as_text(event.get("receiver_agent_nickname")) or "an agent"
        prompt, said = as_text(event.get("prompt")), spoken(event.get("status"))
        if prompt:
            verb = "Started" if kind == "collab_agent_spawn_end" else "Asked"
            yield place.draft(Kind.SUB_AGENT, f"{verb} {name}: {prompt}")
        elif said:
            yield place.draft(Kind.SUB_AGENT, f"{name}: {said}")
        else:
            self.notes.skip(kind)

    def _waited(self, call_id: str, event: Event, place: RecordPlace) -> Iterator[Draft]:
        if call_id in self.made:
            self.notes.skip("repeated call")
            return
        for part, value in enumerate(as_list(event.get("agent_statuses"))):
            agent = as_object(value)
            name = as_text(agent.get("agent_nickname")) or as_text(agent.get("thread_id"))
            yield place.draft(Kind.SUB_AGENT, f"{name}: {spoken(agent.get('status'))}", part)


def _called(kind: str, event: Event) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments that an event is about."""
    if kind.startswith("exec_command"):
        given = {"command": event.get("command"), "cwd": event.get("cwd")}
        return "exec_command", {name: value for name, value in given.items() if value}
    if kind.startswith("patch_apply"):
        changes = as_object(event.get("changes"))
        return "apply_patch", {"paths": list(changes), "changes": changes}
    if kind.startswith("mcp_tool_call"):
        made = as_object(event.get("invocation"))
        return f"mcp__{made.get('server')}__{made.get('tool')}", as_object(made.get("arguments"))
    if kind.startswith("dynamic_tool_call"):
        return as_text(event.get("tool")), as_object(event.get("arguments"))
    if kind == "web_search_end":
        return "web_search", sought(event.get("action"), event.get("query"))
    if kind == "image_generation_end":
        return "image_generation", {"prompt": as_text(event.get("revised_prompt"))}
    return "view_image", {"path": as_text(event.get("path"))}


def _command(event: Event) -> str:
    """Return the command line that was run; for `["bash", "-lc", script]` the script."""
    words = [str(word) for word in as_list(event.get("command"))]
    return words[2] if len(words) == 3 and words[1].startswith("-") else " ".join(words)


def _answered(event: Event) -> Output:
    output = output_of(event.get("content_items"))
    error = as_text(event.get("error"))
    return Output(output.text or error, is_error=bool(error) or event.get("success") is False, hidden=output.hidden)


def _why(event: Event) -> str:
    error = as_object(event.get("error"))
    said = (event.get("message"), error.get("message"), event.get("error"), error.get("kind"))
    return next((text for text in said if isinstance(text, str) and text), "no reason given")


Item = Mapping[str, Any]


@dataclass(slots=True)
class ThreadItemReading(EventReading):
    """Turns successive thread items into drafts.

    Item types are written in two ways: `AgentMessage` and `agent_message`.
    """

    def of_item(self, item: Item, place: RecordPlace) -> Iterable[Draft]:
        kind = as_text(item.get("type")) or as_text(item.get("item_type")) or "no type"
        match kind.replace("_", "").lower():
            case "usermessage":
                return self.user([text_of(item.get("content")) or as_text(item.get("text"))], ITEM, place)
            case "agentmessage" | "assistantmessage":
                return self.assistant(as_text(item.get("text")) or text_of(item.get("content")), ITEM, place)
            case "plan":
                return self.plan(as_text(item.get("text")), ITEM, place)
            case "reasoning":
                parts = [*as_list(item.get("summary_text")), *as_list(item.get("raw_content")), item.get("text")]
                return self.thoughts([as_text(part) for part in parts], ITEM, place)
            case "commandexecution" | "filechange" | "mcptoolcall" | "dynamictoolcall":
                return self._worked(kind.replace("_", "").lower(), item, place)
            case "websearch" | "extension" if item.get("query") or item.get("action"):
                given = sought(item.get("action"), item.get("query"))
                return self.search("web_search", given, as_text(item.get("id")), ITEM, place)
            case "collabtoolcall":
                return self._delegated_by(item, place)
            case "error":
                return (place.draft(Kind.ERROR, as_text(item.get("message")) or "no reason given", is_error=True),)
            case _:
                self.notes.skip(f"item: {kind}")
                return ()

    def begins(self, item: Item, place: RecordPlace) -> Iterable[Draft]:
        """Return the call of an item that has started; other items are emitted when they end."""
        kind = (as_text(item.get("type")) or as_text(item.get("item_type"))).replace("_", "").lower()
        if kind not in {"commandexecution", "mcptoolcall"}:
            self.notes.skip("item under way")
            return ()
        tool, given = _item_called(kind, item)
        return self.observe_call(tool, given, as_text(item.get("id")), place)

    def _worked(self, kind: str, item: Item, place: RecordPlace) -> Iterable[Draft]:
        tool, given = _item_called(kind, item)
        if kind == "mcptoolcall":
            output = output_of_mcp(item)
        elif kind == "dynamictoolcall":
            output = output_of(item.get("content_items"))
        else:
            output = output_of_event(item)
        return self.observe_end(tool, given, as_text(item.get("id")), output, place)

    def _delegated_by(self, item: Item, place: RecordPlace) -> Iterator[Draft]:
        """Yield the prompt to sub-agents, and their answers."""
        if prompt := as_text(item.get("prompt")):
            yield place.draft(Kind.SUB_AGENT, f"{as_text(item.get('tool')) or 'agent'}: {prompt}")
        for part, (name, value) in enumerate(as_object(item.get("agents_states")).items(), 1):
            state = as_object(value)
            if said := as_text(state.get("message")) or spoken(state.get("status")):
                yield place.draft(Kind.SUB_AGENT, f"{name}: {said}", part)


def _item_called(kind: str, item: Item) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments that an item is about."""
    match kind:
        case "commandexecution":
            given = {"command": item.get("command"), "cwd": item.get("cwd")}
            return "exec_command", {name: value for name, value in given.items() if value}
        case "filechange":
            changes = item.get("changes")
            paths = list(as_object(changes)) or [as_object(change).get("path") for change in as_list(changes)]
            return "apply_patch", {"paths": paths, "changes": changes}
        case "mcptoolcall":
            return f"mcp__{item.get('server')}__{item.get('tool')}", as_arguments(item.get("arguments"))
        case _:
            return as_text(item.get("tool")), as_arguments(item.get("arguments"))
