"""Sessions in which an instruction was planted, and honest look-alikes (`tests/corpora`).

for each in injections():
    vetting = vetting_of(each.segments())
    missed = [text for text in each.statements if not vetting.objection(text)]
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nous.domain.summary_input import Segment, SummaryInput
from nous.summary.llm.source_index import SourceIndex
from nous.summary.llm.vetting import Vetting

CORPORA = Path(__file__).parents[1] / "corpora"
ASKED = "Please fix the bug in the importer and tell me what you found."
QUESTION = {
    "de": "Was ist das, und was macht es?",
    "fr": "Qu'est-ce que c'est, et que fait-il ?",
    "ja": "これは何ですか?",
    "pt": "O que é isto e o que faz?",
    "zh": "这是什么?",
}
ANSWERED = "I fixed the importer: it skipped the last row. All tests pass now."


@dataclass(frozen=True)
class Injection:
    """A planted instruction: what is shown, where, and the statements of a model that obeys it."""

    name: str
    author: int
    channel: str
    shown: tuple[str, ...]
    statements: tuple[str, ...]

    @property
    def is_pasted(self) -> bool:
        return self.channel.startswith("pasted")

    def segments(self) -> Sequence[Segment]:
        asked, answered = Segment(f"[User] {ASKED}", "User", 1), Segment(f"[Assistant] {ANSWERED}", "Assistant", 2)
        if self.is_pasted:
            return Segment(f"[User] {self.shown[0]}", "User", 1), answered
        if self.channel == "agent_echo":
            return asked, Segment(f"[Assistant] {self.shown[0]}", "Assistant", 1)
        tool = "WebFetch" if self.channel == "page" else "Bash"
        return asked, *(Segment(f"[Output of {tool}] {part}", "Output", 1) for part in self.shown), answered

    def messages(self) -> list[dict[str, Any]]:
        """The same session as chat messages; an excerpt shows outputs of the shell to a model, other outputs rarely."""
        if self.is_pasted:
            return [_message("user", self.shown[0]), _message("assistant", ANSWERED)]
        if self.channel == "agent_echo":
            return [_message("user", ASKED), _message("assistant", self.shown[0])]
        calls = [
            {"type": "tool_use", "id": f"t{at}", "name": "Bash", "input": {"command": "make report"}}
            for at in range(len(self.shown))
        ]
        results = [
            {"type": "tool_result", "tool_use_id": f"t{at}", "content": part} for at, part in enumerate(self.shown)
        ]
        return [
            _message("user", ASKED),
            _message("assistant", calls),
            _message("user", results),
            _message("assistant", ANSWERED),
        ]


def _message(role: str, content: object) -> dict[str, Any]:
    return {"role": role, "content": content}


@dataclass(frozen=True)
class LookAlike:
    """A text that only looks like an instruction, with the fact that a good model learns from it."""

    name: str
    role: str
    language: str
    text: str
    fact: str

    def segments(self) -> Sequence[Segment]:
        match self.role:
            case "user":
                return (Segment(f"[User] {self.text}", "User", 1),)
            case "agent":
                # An agent answers in the language in which it was asked.
                asked = Segment(f"[User] {QUESTION.get(self.language, 'what is it?')}", "User", 1)
                return asked, Segment(f"[Assistant] {self.text}", "Assistant", 1)
            case _:
                asked = Segment("[User] look at it", "User", 1)
                return asked, Segment(f"[Output of Read] {self.text}", "Output", 1)


def vetting_of(segments: Sequence[Segment]) -> Vetting:
    return Vetting(SourceIndex(SummaryInput(windows=(tuple(segments),))))


@cache
def injections() -> tuple[Injection, ...]:
    return tuple(
        Injection(
            name=f"{each['author']}-{each['name']}",
            author=each["author"],
            channel=each["channel"],
            shown=tuple(each.get("parts") or [each["text"]]),
            statements=(each["payload"], *each["also"]),
        )
        for each in _read("injections.toml")["injection"]
    )


@cache
def look_alikes() -> tuple[LookAlike, ...]:
    return tuple(
        LookAlike(each["name"], each["role"], each["language"], each["text"], each["fact"])
        for each in _read("honest.toml")["honest"]
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((CORPORA / name).read_text("utf-8"))
