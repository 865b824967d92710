"""What a file says of its session as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.notes import Notes
from nous.transcript.reading.fields import as_count, as_object, as_text


@dataclass(slots=True)
class About:
    """Gathers the header. The first `session_meta` says whose file it is; others were copied with a history.

    Tokens are given as running sums, which begin anew where a session was taken up by a program that had forgotten.
    """

    is_introduced: bool = False
    is_sub_agents: bool = False
    is_asked: bool = True
    title: str = ""
    read: int = 0
    written: int = 0
    last_read: int = 0
    last_written: int = 0

    def introduce(self, meta: Mapping[str, Any], notes: Notes) -> bool:
        """Learn who is speaking where; False if another record has said that."""
        if self.is_introduced:
            return False
        self.is_introduced = True
        given = meta.get("source")
        source = as_object(given).get("subagent")
        self.is_sub_agents = source is not None or given == "subagent" or meta.get("thread_source") == "subagent"
        spawned = as_object(as_object(source).get("thread_spawn"))
        parent = as_text(spawned.get("parent_thread_id")) or as_text(meta.get("parent_thread_id"))
        git = as_object(meta.get("git"))
        notes.learn(
            session_id=as_text(meta.get("id")) or as_text(meta.get("session_id")),
            parent_session_id=parent,
            cwd=as_text(meta.get("cwd")),
            git_branch=as_text(git.get("branch")),
            git_commit=as_text(git.get("commit_hash")),
        )
        return True

    def settings(self, context: Mapping[str, Any], notes: Notes) -> None:
        """Learn with which model, and where; and whether the user is asked before something is done."""
        self.is_asked = context.get("approval_policy") != "never"
        notes.learn(cwd=as_text(context.get("cwd")), model=as_text(context.get("model")))

    def charge(self, usage: Mapping[str, Any]) -> None:
        """Count by how much the running sums have grown."""
        read, written = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
        if not (read or written):
            return
        if read < self.last_read or written < self.last_written:
            self.last_read = self.last_written = 0
        self.read += read - self.last_read
        self.written += written - self.last_written
        self.last_read, self.last_written = read, written

    def conclude(self, notes: Notes) -> None:
        """Learn what only the whole file tells."""
        notes.learn(title=self.title, input_tokens=self.read, output_tokens=self.written)
