"""What Copilot CLI says of a session as a whole, gathered from all over its events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.notes import Notes
from nous.transcript.reading.fields import as_count, as_object, as_text

_CACHED = ("cache_read", "cache_write")


@dataclass(slots=True)
class About:
    """Gathers the header. `written` are the tokens of each answer, by its id; `read` those that the end counts."""

    title: str = ""
    written: dict[str, int] = field(default_factory=dict[str, int])
    read: int = 0

    def learn(self, kind: str, data: Mapping[str, Any], notes: Notes) -> None:
        """Learn what an event of this *kind* says of the session."""
        match kind:
            case "session.start" | "session.resume" | "session.context_changed":
                context = as_object(data.get("context")) or data
                notes.learn(
                    session_id=as_text(data.get("sessionId")),
                    model=as_text(data.get("selectedModel")),
                    cwd=as_text(context.get("cwd")),
                    git_branch=as_text(context.get("branch")),
                    git_commit=as_text(context.get("headCommit")),
                )
            case "session.model_change":
                notes.learn(model=as_text(data.get("newModel")))
            case "session.title_changed":
                self.title = as_text(data.get("title")).strip() or self.title
            case "session.shutdown":
                notes.learn(model=as_text(data.get("currentModel")))
                self.read = max(self.read, _tokens_read(data))
            case _:
                pass

    def charge(self, own: str, data: Mapping[str, Any], notes: Notes) -> None:
        """Count the answer *own* once, in however many pieces it comes."""
        notes.learn(model=as_text(data.get("model")))
        self.written[own] = max(self.written.get(own, 0), as_count(data.get("outputTokens")))

    def conclude(self, notes: Notes) -> None:
        """Learn what only the whole file tells."""
        notes.learn(title=self.title, input_tokens=self.read, output_tokens=sum(self.written.values()))


def _tokens_read(data: Mapping[str, Any]) -> int:
    """What the end of a session counts: by model with what was cached, or by sort without."""
    usages = (as_object(as_object(of).get("usage")) for of in as_object(data.get("modelMetrics")).values())
    by_model = sum(as_count(usage.get("inputTokens")) for usage in usages)
    details = as_object(data.get("tokenDetails"))
    by_sort = (as_count(as_object(details.get(sort)).get("tokenCount")) for sort in ("input", *_CACHED))
    return by_model or sum(by_sort)
