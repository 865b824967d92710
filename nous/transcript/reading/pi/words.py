"""The user's words in a prompt of pi or OpenClaw: both put files, skills and messages' envelopes around them."""

import re
from typing import NamedTuple

_FROM_A_PROGRAM = re.compile(
    r"Read HEARTBEAT\.md|\[cron:[\w-]{1,64}[ \]]|A new session was started via /new|Pre-compaction memory flush"
    r"|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>|\[openclaw\.runtime-context\]|OpenClaw runtime |\[Subagent Context\]"
    r'|\[System Message\]|A subagent task "|A cron job "[^"\n]{0,200}" just '
)
_OF_A_SUB_AGENT = re.compile(r'(?:\[System Message\] *(?:\[[^\]\n]{0,80}\] *)?)?A subagent task "')
_SKILL = re.compile(r'<skill name="(?P<name>[^"\n]*)" location="[^"\n]*">')
_SKILL_END = "\n</skill>"
_FILE = re.compile(r'<file name="[^"\n]*">')
_FILE_END = "</file>"
_ENVELOPE = re.compile(
    r"\[(?:[A-Z][a-z]{2} \d{4}-\d\d-\d\d|(?:WhatsApp|Telegram|Slack|Discord|Signal|iMessage|WebChat|Matrix|Feishu) )"
    r"[^\]\n]*\] *"
)
_MESSAGE_ID = re.compile(r"\n\[message_id: [^\]\n]*\]$")
_ABOUT = re.compile(
    r"[A-Z][^\n(]{0,60}\((?:untrusted|untrusted metadata|untrusted, for context)\):[ \t]*\n```json[ \t]*\n"
)
_ABOUT_END = "\n```"
_NOTICE = "System: ["


class Prompt(NamedTuple):
    """What a text in the user's place is. A bare skill is called, but nothing is said; `files` were attached.

    A program may send what a sub-agent found.
    """

    words: str
    skill: str = ""
    files: int = 0
    is_from_a_program: bool = False
    is_sub_agents: bool = False


def _is_from_a_program(text: str) -> bool:
    return _FROM_A_PROGRAM.match(text) is not None


def words_in(text: str) -> Prompt:
    """Take the user's own words out of *text*."""
    text, files = _without_files(text.strip())
    if skill := _SKILL.match(text):
        rest = text.partition(_SKILL_END)[2].strip()
        return Prompt(f"/skill:{skill['name']} {rest}" if rest else "", f"/skill:{skill['name']}", files)
    text = _without_envelope(text)
    found = _OF_A_SUB_AGENT.match(text) is not None
    return Prompt(text, files=files, is_from_a_program=_is_from_a_program(text), is_sub_agents=found)


def _without_files(text: str) -> tuple[str, int]:
    start = files = 0
    while _FILE.match(text, start) and (end := text.find(_FILE_END, start)) >= 0:
        start = end + len(_FILE_END)
        start += text.startswith("\n", start)
        files += 1
    return text[start:].lstrip(), files


def _without_envelope(text: str) -> str:
    """*text* without what OpenClaw says of the message: notices, who sent it when and where, and its id."""
    start = 0
    while (end := _end_of_a_part(text, start)) > start:
        start = end
    return _MESSAGE_ID.sub("", text[start:].rstrip()).strip()


def _end_of_a_part(text: str, start: int) -> int:
    """Where the part of an envelope that begins at *start* ends; *start* if none begins there."""
    if text.startswith("\n", start):
        return start + 1
    if text.startswith(_NOTICE, start):
        return text.find("\n", start) + 1 or len(text)
    if about := _ABOUT.match(text, start):
        end = text.find(_ABOUT_END, about.end() - 1)
        return start if end < 0 else end + len(_ABOUT_END)
    envelope = _ENVELOPE.match(text, start)
    return envelope.end() if envelope else start
