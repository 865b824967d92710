"""Parse message headings, session lines and tool-use blocks in SpecStory's Markdown exports.

Calls look different for each agent, but their output comes last, in a fence of plain text or behind a label.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from nous.transcript.parsing.markdown import BoundedText, fence_in
from nous.transcript.parsing.values import as_arguments, parse_time

_HEADING = re.compile(r"_\*\*(?P<who>User|Agent|Assistant|)(?P<mark> - sidechain)?(?: \((?P<about>.*)\))?\*\*_\s*")
_TIME = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?"
_ABOUT = re.compile(rf"(?P<model>.*?)\s*(?P<time>{_TIME})?")
_SESSION = re.compile(r"<!--\s*\S.{0,80}? Session (?P<id>\S+)\s+\([^)]*\)\s*-->")
_TITLE = re.compile(rf"#{{1,2}} +(?:{_TIME}\s*$|SpecStory\s*$|(?P<title>\S.*?)(?: \(\d[^()]*\))?\s*$)")
_MESSAGE = re.compile(r"<!--\s*message-id:\s*(?P<id>\S+)\s*-->\s*")
_SIDECHAIN = "sidechain"
_LONGEST = 400


class Heading(NamedTuple):
    is_user: bool
    is_sidechain: bool
    model: str
    time: datetime | None


def heading_in(text: str) -> Heading | None:
    """Return the heading on the line *text*, or None; without a name it continues the agent's."""
    found = _HEADING.fullmatch(text) if text.startswith("_**") and len(text) <= _LONGEST else None
    if found is None:
        return None
    about = found["about"] or ""
    rest = about.removesuffix(_SIDECHAIN).removesuffix(") (")
    details = _ABOUT.fullmatch(rest)
    return Heading(
        is_user=found["who"] == "User",
        is_sidechain=bool(found["mark"]) or rest != about,
        model=details["model"] if details else "",
        time=parse_time(details["time"]) if details else None,
    )


def about_in(text: str) -> dict[str, str] | None:
    """Return what the line *text* before the first message says of the session; None if nothing."""
    if found := _SESSION.match(text[:_LONGEST]):
        return {"session_id": found["id"]}
    found = _TITLE.match(text) if len(text) <= _LONGEST else None
    return {"title": found["title"] or ""} if found else None


def message_id_in(text: str) -> str:
    """Return the message id on the line *text*, below a heading; empty if it has none."""
    found = _MESSAGE.fullmatch(text[:_LONGEST])
    return found["id"] if found else ""


_CLOSING = re.compile(r"\s*(?:</details>\s*)?</tool-use>\s*")
_DETAILS = re.compile(r"\s*</?details>\s*")
_ATTRIBUTE = re.compile(r'data-tool-(type|name)="([^"]*)"')
_TOOL_USE = re.compile(r"\s*Tool use: \*\*[^*\n]*\*\*(?:\s*•)?\s*(?P<about>.*)", re.DOTALL)
_RESULT = re.compile(
    r"(?:(?:\*\*)?(?P<label>Result|Output|Error):(?:\*\*)?|(?:\*\*Answer:\*\*))(?P<rest>.*)", re.IGNORECASE
)
_LABELLED = re.compile(
    r"\s*(?P<label>Directory|Path|Pattern|Query|URL|(?:Read|Edit|Write|Create|Delete) file):(?P<value>.*)",
    re.IGNORECASE,
)
_FILE_OF_PATCH = re.compile(r"\*\*(?P<what>Add|Update|Modify|Delete): `(?P<path>[^`]+)`\*\*\s*")
_ANSWER = "answer"
_KEYS = {"directory": "workdir", "path": "path", "pattern": "pattern", "query": "query", "url": "url"}
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "powershell", "cmd"})
_PLAIN = frozenset({"", "text", "output"})  # info strings of fences that hold output

_LOOKING = frozenset({"read", "search"})
"""Kinds of calls with little input: content without a label is their output."""


class ToolUse(NamedTuple):
    """A tool call and its output; `output` is None if none is shown."""

    tool: str
    given: dict[str, Any]
    output: str | None
    is_error: bool
    is_answer: bool


@dataclass(slots=True)
class ToolUseBlock:
    """Collects the lines of a `<tool-use>` block.

    The block ends at a closing tag outside of fences. Older versions wrapped output in three backticks even if it had
    fences of its own. There the closing tag may follow directly after a fence that seems to open.
    """

    text: BoundedText = field(default_factory=BoundedText)
    is_cut: bool = False
    opened: str = ""
    has_just_opened: bool = False

    def ends_with(self, text: str) -> bool:
        """Take the line *text*; return whether it closes the block."""
        if _CLOSING.fullmatch(text) and (not self.opened or self.has_just_opened):
            return True
        self.is_cut = not self.text.add(text)
        fence = fence_in(text)
        if fence and not self.opened:
            self.opened, self.has_just_opened = fence.run, not fence.info
        elif fence and fence.closes(self.opened):
            self.opened = ""
        elif text.strip() and not _DETAILS.fullmatch(text):
            self.has_just_opened = False
        return False

    def parse(self) -> ToolUse:
        tag, _, rest = "\n".join(self.text.lines).replace("&#96;", "`").partition(">")
        attributes = dict(_ATTRIBUTE.findall(tag))
        shown = _Shown(attributes.get("name", ""), attributes.get("type", ""))
        before, _, after = rest.partition("<summary>")
        summary, closed, body = after.partition("</summary>")
        if closed:
            titled = _TOOL_USE.fullmatch(summary)
            about = titled["about"] if titled else summary.strip()
            if not shown.reads(about):
                shown.words.append(about)
        lines = (body if closed else before).removeprefix("\n").split("\n")
        while lines and (not lines[-1].strip() or _DETAILS.fullmatch(lines[-1])):
            lines.pop()
        return shown.parse(lines)


@dataclass(slots=True)
class _Shown:
    tool: str
    kind: str
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    words: list[str] = field(default_factory=list[str])
    patch: list[str] = field(default_factory=list[str])

    def parse(self, lines: list[str]) -> ToolUse:
        number = 0
        output: str | None = None
        label = ""
        while number < len(lines) and output is None:
            line = lines[number]
            fence = fence_in(line)
            if result := _RESULT.fullmatch(line):
                label = (result["label"] or _ANSWER).lower()
                output = _unfenced([result["rest"].strip(), *lines[number + 1 :]])
            elif fence and (fence.info in _PLAIN or self.kind in _LOOKING):
                output = _unfenced(lines[number:])
            elif fence:
                number = self.code(fence.info, lines, number, fence.run)
            elif not self.reads(line):
                output = _unfenced(lines[number:])
            number += 1
        return ToolUse(self.tool, self.input(), output, is_error=label == "error", is_answer=label == _ANSWER)

    def code(self, info: str, lines: list[str], start: int, run: str) -> int:
        """Add the code that begins at line *start* to the input; return its last line's number."""
        end = start + 1
        while end < len(lines) and not ((fence := fence_in(lines[end])) and fence.closes(run)):
            end += 1
        code = "\n".join(lines[start + 1 : end])
        if info in _SHELLS:
            self.given.setdefault("command", code)
        elif self.patch:
            self.patch.append(code)
        elif info == "json" and code.lstrip().startswith("{"):
            self.given |= as_arguments(code)
        else:
            key = info if info == "diff" else "content"
            self.given[key] = f"{self.given[key]}\n{code}" if key in self.given else code
        return end

    def reads(self, line: str) -> bool:
        """Add a line outside of code to the input; False if it is no part of the input."""
        value = line.strip()
        if patched := _FILE_OF_PATCH.fullmatch(line):
            what = "Update" if patched["what"] == "Modify" else patched["what"]
            self.patch.append(f"*** {what} File: {patched['path']}")
        elif labelled := _LABELLED.fullmatch(line):
            self.given.setdefault(_KEYS.get(labelled["label"].lower(), "file_path"), labelled["value"].strip(" `"))
        elif value.startswith("`"):
            words, _, more = value[1:].partition("`") if self.kind != "shell" else (value.strip("`"), "", "")
            self.given.setdefault(self.key(is_set_off=line[:1] == " "), words)
            self.words.append(more.strip())
        elif self.kind in _LOOKING and value:
            return False
        elif value not in {"", "**Input:**"}:
            self.words.append(value)
        return True

    def key(self, *, is_set_off: bool) -> str:
        """Return the argument name for a value without a label; commands start a line, paths do not."""
        if self.kind == "search":
            return "pattern"
        if self.kind in {"read", "write"}:
            return "file_path"
        return "path" if is_set_off else "command"

    def input(self) -> dict[str, Any]:
        words = "\n".join(filter(None, self.words))
        description = {"description": words} if words else {}
        patch = {"patch": "\n".join(self.patch)} if self.patch else {}
        return {**description, **patch, **{name: value for name, value in self.given.items() if value}}


def _unfenced(lines: list[str]) -> str:
    lines = "\n".join(lines).strip("\n").split("\n")
    first, last = fence_in(lines[0]), fence_in(lines[-1])
    if first:
        lines = lines[1:-1] if last and last.closes(first.run) and len(lines) > 1 else lines[1:]
    return "\n".join(lines).strip("\n")
