"""Parse Codex events and thread items into entries; skip copies of what is already emitted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nous.transcript.model import Kind
from nous.transcript.parsing.chat import text_of
from nous.transcript.parsing.codex.contents import Output, output_of, output_of_event, output_of_mcp
from nous.transcript.parsing.codex.conversation import ENDING, EVENT, ITEM, CodexReading, sought
from nous.transcript.parsing.fields import JsonObject, count_at, object_at, objects_at, templates, text_at
from nous.transcript.parsing.values import as_arguments, as_list, as_object
from nous.transcript.reader import Draft, RecordPlace

_USERS_SHELL = frozenset({"user_shell", "userShell"})
_VERDICTS = frozenset({"approved", "denied", "timed_out", "aborted"})
_TEMPLATES = templates("codex")
_WORK = ("commandexecution", "filechange", "mcptoolcall", "dynamictoolcall")


@dataclass(slots=True)
class EventReading(CodexReading):
    def of_event(self, event: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        kind = str(event.get("type", "no type"))
        match kind:
            case "user_message":
                images = [*as_list(event.get("images")), *as_list(event.get("local_images"))]
                self.notes.skipped.update(["image"] * len(images))
                return self.user([text_at(event, "message")], EVENT, place)
            case "agent_message":
                return self.assistant(text_at(event, "message"), EVENT, place)
            case "agent_reasoning" | "agent_reasoning_raw_content":
                return self.thoughts([text_at(event, "text")], EVENT, place)
            case "task_complete" | "turn_complete":
                return self._completed(event, place)
            case "turn_aborted":
                return self._aborted(event, place)
            case "error" | "stream_error":
                return self.once(place.draft(Kind.ERROR, _why(event), is_error=True), EVENT)
            case _ if kind.startswith("collab_"):  # the conversation has what agents are told and what they answer
                return self.skip("repeated call")
            case _ if "_tool_call" in kind or kind.endswith(("_begin", "_end")):
                return self._work(kind, event, place)
            case _:
                return self._act(kind, event, place)

    def _completed(self, event: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        if last := text_at(event, "last_agent_message"):
            yield from self.assistant(last, ENDING, place)
        else:
            self.notes.skip("task_complete")
        if event.get("error"):
            yield from self.once(place.draft(Kind.ERROR, _why(event), 2, is_error=True), ENDING)
        self.copies.clear()

    def _aborted(self, event: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        reason = text_at(event, "reason")
        if reason == "interrupted":
            yield from self.interrupted(place)
        else:
            yield place.draft(Kind.SYSTEM, f"The turn was ended: {reason or 'no reason given'}")
        self.copies.clear()

    def _act(self, kind: str, event: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "guardian_assessment":
                return self._assessed(event, place)
            case "thread_rolled_back":
                turns = count_at(event, "num_turns")
                return (place.draft(Kind.DECISION, f"Took back the last {turns} turns"),)
            case "thread_name_updated":
                self.title = text_at(event, "thread_name", "name")
            case "thread_goal_updated":
                goal = object_at(event, "goal")
                text = f"Goal ({text_at(goal, 'status') or 'unknown'}): {text_at(goal, 'objective')}"
                return () if self.is_repeated(text, "repeated goal") else (place.draft(Kind.SYSTEM, text),)
            case "thread_settings_applied":
                self.settings(object_at(event, "thread_settings"))
            case "exited_review_mode":
                return self._reviewed(object_at(event, "review_output"), place)
            case _:
                pass
        return self.from_template(_TEMPLATES, kind, event, place)

    def _assessed(self, event: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the verdict of an approval review, the user's only if the event says so."""
        status = text_at(event, "status")
        is_users = event.get("decision_source") == "user"
        if status not in _VERDICTS or (status == "approved" and not is_users):
            return self.skip(f"guardian_assessment: {status}" if status in _VERDICTS else "guardian_assessment")
        action, why = object_at(event, "action"), text_at(event, "rationale")
        what = text_at(action, "command", "program", "tool_name", "target", "reason", "type") or "an action"
        verdict = f"{status.replace('_', ' ').capitalize()}: {what}" + (f": {why}" if why else "")
        return (place.draft(Kind.DECISION if is_users else Kind.SYSTEM, verdict),)

    def _reviewed(self, review: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        self.review = text_at(review, "overall_explanation").strip()
        findings = objects_at(review, "findings")
        comments = (f"{text_at(finding, 'title')}\n{text_at(finding, 'body')}".strip() for finding in findings)
        text = "\n\n".join(filter(None, (self.review, *comments)))
        return self.text_or_skip(Kind.SUB_AGENT, text, place, "exited_review_mode")

    def _work(self, kind: str, event: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        call_id = text_at(event, "call_id", "callId")
        if kind == "exec_command_end" and str(event.get("source")) in _USERS_SHELL:
            words = [str(word) for word in as_list(event.get("command"))]
            command = words[2] if len(words) == 3 and words[1].startswith("-") else " ".join(words)
            return self.shell(command, output_of_event(event), EVENT, place)
        tool, given = _called(kind.replace("_", ""), event)
        match kind:
            case "web_search_end" | "image_generation_end":
                return self.search(tool, given, call_id, EVENT, place)
            case "view_image_tool_call" | "dynamic_tool_call_request":
                return self._began(tool, given, call_id, place)
            case "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end" | "dynamic_tool_call_response":
                return self._ended(tool, given, call_id, _output(kind.replace("_", ""), event), place)
            case _:
                return self.skip(kind)

    def _began(self, tool: str, given: dict[str, Any], call_id: str, place: RecordPlace) -> Iterable[Draft]:
        """Return the call whose start is reported, unless it is already emitted."""
        if call_id in self.listed or call_id in self.observed:
            return self.skip("repeated call")
        if call_id:
            self.observed.add(call_id)
        return (self.call(tool, given, call_id, place),)

    def _ended(
        self, tool: str, given: dict[str, Any], call_id: str, output: Output, place: RecordPlace
    ) -> Iterator[Draft]:
        """Yield the result of a call that has ended; of one in the conversation keep only a failure."""
        if call_id in self.listed and output.is_error and call_id in self.calls:
            self.failed.add(call_id)
        if call_id in self.listed or (call_id and call_id in self.observed and call_id not in self.calls):
            self.notes.skip("repeated result")
            return
        if call_id not in self.calls:
            yield from self._began(tool, given, call_id, place)
        yield self.came(output, call_id, place, 1, tool=tool)

    def of_item(self, item: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the drafts of a thread item; its type is `AgentMessage` or `agent_message`."""
        kind, own = text_at(item, "type", "item_type").replace("_", "").lower(), text_at(item, "id")
        match kind:
            case "usermessage":
                return self.user([text_of(item.get("content")) or text_at(item, "text")], ITEM, place)
            case "agentmessage" | "assistantmessage":
                return self.assistant(text_at(item, "text") or text_of(item.get("content")), ITEM, place)
            case "plan":
                return self.plan(text_at(item, "text"), ITEM, place)
            case "reasoning":
                parts = [*as_list(item.get("summary_text")), *as_list(item.get("raw_content")), item.get("text")]
                return self.thoughts([part for part in parts if isinstance(part, str)], ITEM, place)
            case _ if kind in _WORK:
                return self._ended(*_called(kind, item), own, _output(kind, item), place)
            case "websearch" | "extension" if item.get("query") or item.get("action"):
                return self.search("web_search", sought(item.get("action"), item.get("query")), own, ITEM, place)
            case "error":
                return (place.draft(Kind.ERROR, text_at(item, "message") or "no reason given", is_error=True),)
            case _:
                return self.skip(f"item: {text_at(item, 'type', 'item_type') or 'no type'}")


def _called(kind: str, about: JsonObject) -> tuple[str, dict[str, Any]]:
    if kind.startswith(("execcommand", "commandexecution")):
        return "exec_command", {name: about[name] for name in ("command", "cwd") if about.get(name)}
    if kind.startswith(("patchapply", "filechange")):
        changes = about.get("changes")
        paths = list(as_object(changes)) or [change.get("path") for change in objects_at(about, "changes")]
        return "apply_patch", {"paths": paths, "changes": changes}
    if kind.startswith("mcptoolcall"):
        made = object_at(about, "invocation") or about
        return f"mcp__{made.get('server')}__{made.get('tool')}", as_arguments(made.get("arguments"))
    if kind.startswith("dynamictoolcall"):
        return text_at(about, "tool"), as_arguments(about.get("arguments"))
    if kind.startswith("websearch"):
        return "web_search", sought(about.get("action"), about.get("query"))
    if kind.startswith("imagegeneration"):
        return "image_generation", {"prompt": text_at(about, "revised_prompt")}
    return "view_image", {"path": text_at(about, "path")}


def _output(kind: str, about: JsonObject) -> Output:
    if kind.startswith("mcptoolcall"):
        return output_of_mcp(about)
    if not kind.startswith("dynamictoolcall"):
        return output_of_event(about)
    output, error = output_of(about.get("content_items")), text_at(about, "error")
    return Output(output.text or error, is_error=bool(error) or about.get("success") is False, hidden=output.hidden)


def _why(event: JsonObject) -> str:
    error = object_at(event, "error")
    return text_at(event, "message") or text_at(error, "message") or text_at(event, "error") or "no reason given"
