"""Redact transcripts: entries as readers give them out, and content before it is sent.

A secret that was found once is replaced wherever the session repeats it, also where only its beginning is shown.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, cast

import ahocorasick_rs
import orjson

from nous.redaction.redactor import Redaction
from nous.redaction.rules import matches
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.parsing.values import parsed
from nous.transcript.tool_summary import extract_tool_summary

PRIVATE = "private part"
"""Reason by which entries are counted that had nothing but private parts."""

# Characters of a secret by which its repeats are found; a shorter one may be a common word.
_SHORTEST = 8
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # JSON may hold other line separators
# A password in a URL that looks like a name, such as `shop24` of a database, stays where names may equal it.
_OF_URL, _NAME = "[secret:url-password", re.compile(r"[a-z]+\d{0,3}")
_PRINTED = "printed-token"
# Characters of a result that may be a secret which its command prints.
_LONGEST_PRINTED = 2_000
_CUT = ("...", "…", "\n\n... [")
"""Marks at the end of a text that was cut."""


def redact_transcript(transcript: Transcript, redaction: Redaction) -> Transcript:
    """Return *transcript* without secrets and private parts; skip entries of nothing else."""
    calls = {each.call_id: each for each in transcript.entries if each.kind is Kind.TOOL_CALL and each.call_id}
    entries = [_entry(each, redaction, calls.get(each.call_id or "")) for each in transcript.entries]
    title = redaction.text(transcript.header.title or "") or None
    if repeats := repeats_of(redaction.known):
        given = [each.tool_input and _with_texts(each.tool_input, repeats) for each in entries]
        entries = [_mapped(each._replace(tool_input=new), repeats) for each, new in zip(entries, given, strict=True)]
        title = title and repeats(title)
    kept = tuple(new for old, new in zip(transcript.entries, entries, strict=True) if new.text or not old.text)
    skipped = {**transcript.skipped, **({PRIVATE: lost} if (lost := len(entries) - len(kept)) else {})}
    return replace(transcript, entries=kept, header=replace(transcript.header, title=title), skipped=skipped)


def _entry(entry: Entry, redaction: Redaction, call: Entry | None) -> Entry:
    text, given = entry.text, entry.tool_input
    if call is not None and entry is not call and len(text) <= _LONGEST_PRINTED:
        text = _without_printed(text, str((call.tool_input or {}).get("command") or ""), redaction)
    if entry.kind is Kind.TOOL_RESULT and '"value"' in text.casefold():  # its name stands beside it
        text = _without_values(text, redaction)
    if given and (clean := redaction.value(given)) != given:
        # A call is shown shortened, which may leave too little of a secret to be recognized: it is shortened again.
        if entry.kind is Kind.TOOL_CALL and text == extract_tool_summary(entry.tool or "", given, entry.paths):
            text = extract_tool_summary(entry.tool or "", clean, entry.paths) or text
        entry = entry._replace(tool_input=clean)
    return _mapped(entry._replace(text=text), redaction.text)


def _without_values(text: str, redaction: Redaction) -> str:
    """Return JSON *text* without secrets whose names stand beside them, else as written."""
    before = set(redaction.known)
    _redacted_json(text, redaction)
    for secret in redaction.known.keys() - before:
        text = text.replace(secret, redaction.known[secret])
    return text


def _without_printed(text: str, command: str, redaction: Redaction) -> str:
    """Return *text* without a secret that its *command* prints, such as `printenv API_TOKEN`."""
    found = redaction.redactor.spans_behind(f"{command}\n", text) if command else ()
    printed = [span for span in found if span.rule == _PRINTED]
    return redaction.masked(text, printed) if printed else text


def _mapped(entry: Entry, change: Callable[[str], str]) -> Entry:
    return entry._replace(text=change(entry.text), paths=tuple(map(change, entry.paths)))


def repeats_of(known: Mapping[str, str]) -> Callable[[str], str] | None:
    """Return a function that replaces *known* secrets, and their beginnings in cut texts."""
    by_beginning: dict[str, list[str]] = {}
    for secret in known:
        is_name = secret.isalpha() or (known[secret].startswith(_OF_URL) and _NAME.fullmatch(secret))
        if len(secret) >= _SHORTEST and not is_name:
            by_beginning.setdefault(secret[:_SHORTEST], []).append(secret)
    if not by_beginning:
        return None
    secrets = list(by_beginning.values())
    beginnings = ahocorasick_rs.AhoCorasick(list(by_beginning))

    def replaced(text: str) -> str:
        parts: list[str] = []
        done = 0
        for number, start, _ in matches(beginnings, text):
            secret, end = _longest(text, start, secrets[number])
            if start >= done and secret:
                parts += (text[done:start], known[secret])
                done = end
        return "".join((*parts, text[done:])) if parts else text

    return replaced


def _longest(text: str, start: int, secrets: Sequence[str]) -> tuple[str, int]:
    """Return which of *secrets* stands at *start*, and where it ends; "" if none does."""
    found = ("", start)
    for secret in secrets:
        shared = next((at for at, c in enumerate(secret) if text[start + at : start + at + 1] != c), len(secret))
        end = start + shared
        if end > found[1] and (shared == len(secret) or text.startswith(_CUT, end)):
            found = secret, end
    return found


def redact_content(content: bytes | str | Sequence[Mapping[str, Any]], redaction: Redaction) -> Any:
    """Return the content of a session file, or chat messages, without secrets and private parts.

    JSON, whole or line by line, is redacted by its texts; unchanged lines stay as they are. Other text is redacted as
    a whole. Content is of the type that was given.
    """
    if isinstance(content, bytes):
        return redact_content(content.decode(errors="surrogateescape"), redaction).encode(errors="surrogateescape")
    if not isinstance(content, str):
        messages = [redaction.value(message) for message in content]
        repeats = repeats_of(redaction.known)
        return _with_texts(messages, repeats) if repeats else messages
    redacted = "".join(_redacted(content, redaction))
    repeats = repeats_of(redaction.known)
    return repeats(redacted) if repeats else redacted


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _with_texts(each, change) for name, each in cast("dict[str, Any]", value).items()}
    return [_with_texts(each, change) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _redacted(content: str, redaction: Redaction) -> Iterator[str]:
    if (whole := _redacted_json(content, redaction)) is not None:
        yield whole
        return
    redaction.depth = 0
    lines = groupby(_LINE.findall(content), key=lambda line: line.lstrip().startswith(("{", "[")))
    for line in (line for is_json, run in lines for line in (run if is_json else ["".join(run)])):
        redacted = None if redaction.depth else _redacted_json(line, redaction)
        if redacted is not None:
            redaction.depth = 0  # a part that is not closed in a message ends with it
        yield redaction.further(line) if redacted is None else redacted


def _redacted_json(text: str, redaction: Redaction) -> str | None:
    """Return JSON *text* redacted; None if it is no JSON object or list."""
    if not text.lstrip().startswith(("{", "[")) or (value := parsed(text.encode(errors="replace"))) is None:
        return None
    try:
        new = _redacted_value(value, redaction)
        return text if new == value else orjson.dumps(new).decode() + text[len(text.rstrip()) :]
    except (RecursionError, orjson.JSONEncodeError):  # it is nested too deeply
        return None


def _redacted_value(value: Any, redaction: Redaction) -> Any:
    """Return the content of a session file; each message may open private parts of its own."""
    if isinstance(value, list):
        return [redaction.value(each) for each in cast("list[Any]", value)]
    if isinstance(messages := value.get("messages"), list):
        rest = redaction.value({**value, "messages": None})
        return {**rest, "messages": [redaction.value(each) for each in cast("list[Any]", messages)]}
    return redaction.value(value)
