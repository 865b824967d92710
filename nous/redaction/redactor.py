"""Replace secrets by placeholders, and drop private parts, in text, JSON values and records.

A placeholder is `[secret:<rule>:<mark>]`. The mark is four digits of a keyed hash (HMAC) of the secret: equal secrets
keep equal placeholders, so texts can be compared, and without the installation's key nothing can be guessed from them.
A placeholder is valid inside JSON, and no rule finds anything in it, so redacting twice changes nothing.
"""

import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache, cached_property
from typing import Any, TypeVar, cast

from nous.redaction.rules import RuleSet, Span, default_rules

T = TypeVar("T")

PRIVATE = "private-part"
"""The name under which dropped private parts are counted, beside the ids of rules."""

_TAG = re.compile(r"<(?P<closing>/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
NOISE = "token"
"""Rule without keywords: it judges a word by its characters alone."""

_FIELDS = ("element", "selector")
_NAMED = ("name", "key", "header", "parameterkey", *_FIELDS)
_VALUES = frozenset({"value", "val", "parametervalue"})
# Names of values that look like noise and are no secrets, such as the ids by which results find their calls.
_IDENTIFIER = re.compile(r"(?:id|uuid|signature|hash|digest|etag|cursor|sha\d*)$", re.IGNORECASE)
_LONGEST_RULE, _MOST_WORDS = 40, 100
# Most passes over a text: a replacement may join characters to a new match.
_ROUNDS = 8
_NAMES = frozenset(
    {"session_id", "agent_id", "scope", "dataref", "version", "digest", "excerpt_digest", "source", "state", "of"}
    | {"embedder", "embedded_by", "expected", "prompt_version", "model", "format", "traceparent"}
)
"""Fields of records that name something. They are compared with others, so they stay."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Redactor:
    """Finds secrets by *rules*, and names placeholders for them.

    *key* returns the installation's key, or None if this user may not read it: then placeholders have no mark. What
    *allow* matches in full is no secret.
    """

    rules: Callable[[], RuleSet] = default_rules
    key: Callable[[], bytes | None] = lambda: None
    allow: re.Pattern[str] | None = None

    def spans(self, text: str) -> Sequence[Span]:
        """Return the secrets in *text*, in order and apart, without those that are allowed."""
        found = self.rule_set.find(text)
        return [span for span in found if not self.allow.fullmatch(text, span.start, span.end)] if self.allow else found

    def spans_behind(self, before: str, text: str, after: str = "") -> Sequence[Span]:
        """Return the secrets in *text*, judged by what stands around it."""
        begin = len(before)
        found = self.spans(f"{before}{text}{after}")
        moved = (span._replace(start=span.start - begin, end=span.end - begin) for span in found)
        return [span for span in moved if span.start >= 0 and span.end <= len(text)]

    def placeholder(self, secret: str, rule: str) -> str:
        key = self._key
        mark = f":{hmac.new(key, secret.encode(errors='replace'), 'sha256').hexdigest()[:4]}" if key else ""
        return f"[secret:{rule[:_LONGEST_RULE]}{mark}]"

    @cached_property
    def rule_set(self) -> RuleSet:
        return self.rules()

    @cached_property
    def _key(self) -> bytes | None:
        return self.key()


@dataclass(slots=True)
class Redaction:
    """One use of a redactor.

    `counts` has how often each rule found something, `known` the placeholders by secret.
    """

    redactor: Redactor
    counts: Counter[str] = field(default_factory=Counter[str])
    known: dict[str, str] = field(default_factory=dict[str, str])
    depth: int = 0

    def text(self, text: str) -> str:
        """Return *text* without secrets and private parts; an unclosed part ends with the text."""
        self.depth = 0
        return self.further(text)

    def value(self, value: Any) -> Any:
        """Return the JSON value of one message without secrets and private parts.

        A private part may span several of its texts. A text under a name such as `password` is checked as in
        `password = "..."`.
        """
        self.depth = 0
        return self._value(value, "")

    def record(self, record: T, change: Callable[[str], str] | None = None) -> T:
        """Return a dataclass, or a tuple of some, without secrets; *record* itself if it has none.

        *change* replaces `masked`, which is called with each text.
        """
        return cast("T", self._record(record, change or self.masked))

    def masked(self, text: str, spans: Sequence[Span] | None = None) -> str:
        """Return *text* with placeholders for *spans* (by default all secrets) and what remains."""
        spans = self.redactor.spans(text) if spans is None else spans
        for _ in range(_ROUNDS):
            if not spans:
                break
            text = self._replaced(text, spans)
            spans = self.redactor.spans(text)
        return text

    def _replaced(self, text: str, spans: Iterable[Span]) -> str:
        parts: list[str] = []
        done = 0
        for span in spans:
            secret = text[span.start : span.end]
            self.counts[span.rule] += 1
            placeholder = self.known.setdefault(secret, self.redactor.placeholder(secret, span.rule))
            parts += (text[done : span.start], placeholder)
            done = span.end
        return "".join((*parts, text[done:]))

    def further(self, text: str, name: str = "") -> str:
        """Return *text* as `text` does, as the continuation of the text before it."""
        if self.depth or "<private" in text.lower():
            text = self._without_private(text)
        spans = self.redactor.spans(text)
        if spans and _IDENTIFIER.search(name):
            spans = [span for span in spans if span.rule != NOISE]
        if not spans and name and self.redactor.rule_set.is_prompted(name):
            spans = self.redactor.spans_behind(f'{name}="', text, '"')
        return self.masked(text, spans) if spans else text

    def _value(self, value: Any, name: str) -> Any:
        match value:
            case str():
                return self.further(value, name)
            case Mapping():
                return self._mapping(cast("Mapping[str, Any]", value), name)
            case list() | tuple():
                items = cast("Sequence[Any]", value)
                options = ("", *(each.lstrip("-") if str(each).startswith("--") else "" for each in items))
                return self._command(
                    [self._value(each, option or name) for option, each in zip(options, items, strict=False)]
                )
            case _:
                return value

    def _command(self, items: list[Any]) -> list[Any]:
        """Return the words of a command, such as `-ps3cret` behind `mysql`, without secrets."""
        words = [each for each in items if isinstance(each, str)]
        has_option = any(each.startswith("-") for each in words[1:])
        if not has_option or len(words) < len(items) or len(items) > _MOST_WORDS:
            return items
        spans, clean, at = self.redactor.spans(" ".join(words)), list[Any](), 0
        for each in words:
            end = at + len(each)
            own = (span._replace(start=span.start - at, end=span.end - at) for span in spans if at <= span.start < end)
            clean.append(self._replaced(each, (span for span in own if span.end <= len(each))))
            at = end + 1
        return clean

    def _mapping(self, value: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return *value* redacted; `{"name": ..., "value": ...}` counts as an assignment."""
        texts = {str(key).casefold(): each for key, each in reversed(list(value.items())) if isinstance(each, str)}
        named, field = (next((texts[key] for key in keys if texts.get(key)), name) for keys in (_NAMED, _FIELDS))
        return {key: self._value(each, _name_of(str(key), each, named, field)) for key, each in value.items()}

    def _without_private(self, text: str) -> str:
        kept: list[str] = []
        done = 0
        for tag in _TAG.finditer(text):
            if not self.depth:
                kept.append(text[done : tag.start()])
                self.counts[PRIVATE] += not tag["closing"]
            self.depth = max(self.depth + (-1 if tag["closing"] else 1), 0)
            done = tag.end()
        return "".join((*kept, "" if self.depth else text[done:]))

    def _record(self, value: Any, change: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return value if isinstance(value, Enum) else change(value)
        if isinstance(value, tuple):
            old = cast("tuple[Any, ...]", value)
            new = [self._record(each, change) for each in old]
            if all(one is other for one, other in zip(old, new, strict=True)):
                return old
            return type(value)._make(new) if hasattr(value, "_make") else tuple(new)  # pyright: ignore[reportAttributeAccessIssue] of a named tuple
        if isinstance(value, Mapping):
            return self._value(value, "")
        if is_dataclass(value) and not isinstance(value, type):
            each = {name: getattr(value, name) for name in _texts_of(type(value))}
            changed = {name: new for name, one in each.items() if (new := self._record(one, change)) is not one}
            return replace(value, **changed) if changed else value
        return value


def _name_of(key: str, value: Any, named: str, field: str) -> str:
    """Return the name by which *value* is judged, which may stand beside it."""
    if key.casefold() in _VALUES:
        return named
    return field if key == "text" and isinstance(value, str) and not any(map(str.isspace, value)) else key


@cache
def _texts_of(kind: type) -> Sequence[str]:
    return tuple(each.name for each in fields(kind) if each.name not in _NAMES)


_UNMARKED = Redactor()


def masked(text: str) -> str:
    """Return *text* with placeholders without marks, as errors and logs show it."""
    return Redaction(_UNMARKED).masked(text)


_TELLS = re.compile(r"(?:\b(?:is|are|was)\s+|[:=]\s+|^\W*)[\"'`]*\[secret:")


def tells_secret(text: str) -> bool:
    """Return whether redacted *text* only tells a secret: `the password is [secret:...]`."""
    return _TELLS.search(text) is not None
