"""Tell typed text from pasted text: code, quotations, logs, pages, long documents."""

import re
from collections.abc import Iterator
from itertools import pairwise

from nous.text.injection import is_disguised

Span = tuple[int, int]

LONGEST_TYPED = 1_500
"""Characters from which a message counts as a pasted document, but for its first line."""

_LONGEST_REQUEST = 500
# Beginning of a message in which Claude Code hands over a plan that its user has accepted.
_PLAN = "Implement the following plan:"
_LONG_MESSAGE = 6  # lines from which a message may hold a pasted text without any mark of it
_BLOCKS = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<!--.*?(?:-->|\Z)|\"\"\".*?(?:\"\"\"|\Z)"
    r"|^[ \t]*<(?!(?:task|user_query|rules|instructions|important)>)([a-z][\w-]*)\b[^<>\n]*>\n.*?(?:</\1>|\Z)"
    r"|^(?:From|Sent|Subject): [^\n]+\n(?:From|Sent|Date|To|Cc|Subject): .*"
    # Some hosts write the results of tools into the messages of their users.
    r"|^(?:\[\w+ for '[^'\n]*'\] Result:|Observation:|OBSERVATION:|EXECUTION RESULT of|Tool result"
    r"|Stop hook feedback:|--- Content from referenced files).*",
    re.DOTALL | re.MULTILINE,
)
_LINES = re.compile(
    r"^(?:>.*|[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ,]|\[?\d\d?:\d\d(?::\d\d)"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3} |\{\""
    r"|\[(?i:err|out|info|warn\w*|error|debug|user|assistant|agent|system|human)\]"
    r"|(?:\w+ )?(?:(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b[: ]|(?i:info|warn(?:ing)?|error|fatal): )"
    r"|npm (?:ERR!|error)|Traceback |[ \t]+at |[ \t]*File \").*"
    r"|</?[a-zA-Z][\w-]*[ >].*|\|.*\|[ \t]*|@@ .*|(?:\+\+\+|---) [ab]/.*|(?i:human|assistant|system|user|ai): .*)$",
    re.MULTILINE,
)
_HANDED_OVER = re.compile(
    r"^(?=[^\n]*\b(?i:summar|read|check|review|explain|translat|proof|answer|reply|analy[sz]e|look|what|why|parse|convert"
    r"|extract|is th|here (?:is|are))\w*)[^\n]*\b(?i:this|these|here (?:is|are)|the following|below)\b[^\n]{0,60}"
    r"\b(?i:page|readme|e?-?mail|ticket|document|docs?|log|thread|article|post|spec|minutes|report|cv|resume|appendix"
    r"|paper|manual|licen[cs]e|transcript|newsletter)\b[^\n]*(?::[ \t]*\n(?=\s*\S)|\n(?=(?:[^\n]*\n){2}))",
    re.MULTILINE,
)
_WITHIN_A_LOG = 4
_REPLIED = frozenset("><")
_WRAPPED = re.compile(
    r"(?:^[^\n]{50,}[^\s.!?:;][ \t]*\n(?=[ \t]{2,}\S|[\"'(`\u00ab\u201c]?[^\W\d_A-Z]))+[^\n]+", re.MULTILINE
)
"""Lines broken in a sentence, at a width: a person who types lets them run on."""

_LINE = re.compile(r"[^\n]+")
_QUOTED = re.compile(r"(?<![\w\"])\"[^\"\n]*[.!?]\s[^\"\n]*\"|“[^“”]*[.!?]\s[^“”]*”|«[^«»]*[.!?]\s[^«»]*»")


def split(text: str) -> tuple[str, str]:
    """Return what of a person's message *text* was typed, and what was pasted."""
    spans = sorted(pasted_spans(text))
    typed, pasted, done = "", "", 0
    for start, end in spans:
        if end > done:
            typed += text[done : max(start, done)] + "\n"
            pasted += text[max(start, done) : end] + "\n"
            done = end
    typed += text[done:]
    return typed.strip(), pasted.strip()


def is_brief(text: str) -> bool:
    """Return whether a message is only long: nothing else shows that it was pasted."""
    if len(text) <= LONGEST_TYPED:
        return False
    patterns = (_BLOCKS, _QUOTED, _LINES, _HANDED_OVER, _WRAPPED)
    return not any(pattern.search(text) for pattern in patterns)


def is_document(text: str) -> bool:
    """Return whether a message is a plan handed over, or long and pasted from its beginning on."""
    return len(text) > LONGEST_TYPED and (
        text.startswith(_PLAN) or not is_brief(text[: LONGEST_TYPED + _LONGEST_REQUEST])
    )


def pasted_spans(text: str) -> Iterator[Span]:
    """Yield where *text* was pasted; spans may overlap."""
    if text.startswith(_PLAN):
        return
    for pattern in (_BLOCKS, _QUOTED):
        yield from (found.span() for found in pattern.finditer(text[:LONGEST_TYPED]))
    if len(text) > LONGEST_TYPED:
        request = text.find("\n")
        yield request if 0 < request <= _LONGEST_REQUEST else 0, len(text)
        return
    # A message of one line is typed, whatever it looks like.
    lines = [found.span() for found in _LINES.finditer(text)] if "\n" in text.strip() else []
    yield from lines
    for (start, end), (following, last) in pairwise(lines):
        # What stands between two lines of a log belongs to it; between two quotations, it is a reply.
        if text[start] not in _REPLIED and text.count("\n", end, following) <= _WITHIN_A_LOG:
            yield start, last
    if handed := _HANDED_OVER.search(text):
        yield handed.end(), len(text)
    yield from (found.span() for found in _LINE.finditer(text) if is_disguised(found[0]))
    if sum(map(bool, map(str.strip, text.splitlines()))) >= _LONG_MESSAGE:
        broken = [found.span() for found in _WRAPPED.finditer(text)]
        yield from broken if broken and broken[0][0] > 0 else ()  # an editor breaks all lines of a person's
