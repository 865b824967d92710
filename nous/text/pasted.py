"""Tell typed text from pasted text: code, quotations, logs, pages, long documents."""

import re
from collections.abc import Iterator
from itertools import pairwise

from nous.text.injection import RULES, aims, is_disguised

Span = tuple[int, int]

LONGEST_TYPED = 1_500
"""Characters from which a message counts as a pasted document."""

_LONG_MESSAGE = 6
"""Lines from which a message may hold a pasted text without any mark of it."""

_BLOCKS = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<!--.*?(?:-->|\Z)|\"\"\".*?(?:\"\"\"|\Z)", re.DOTALL)
_LINES = re.compile(
    r"^(?:>.*|[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ,]|\[?\d\d?:\d\d(?::\d\d)"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3} |\{\""
    r"|\[(?:err|out|info|warn\w*|error|debug|user|assistant|agent|system|human|\d+)\]"
    r"|(?:\w+ )?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b[: ]|npm ERR!|Traceback |[ \t]+at |[ \t]*File \").*"
    r"|</?[a-z][\w-]*[ >].*|(?:Human|Assistant|System|User|AI): .*)$",
    re.MULTILINE | re.IGNORECASE,
)
_HANDED_OVER = re.compile(
    r"[^\n]*\b(?:this|these|here (?:is|are)|the following|below)\b[^\n]{0,60}"
    r"\b(?:page|readme|e?-?mail|ticket|document|docs?|log|thread|article|post|spec|minutes|report|cv|resume|appendix|paper|manual|licen[cs]e|transcript|newsletter)\b"
    r"[^\n]*\n(?=(?:[^\n]*\n){2})",
    re.IGNORECASE,
)
_WITHIN_A_LOG = 4
_REPLIED = frozenset("><")
_WRAPPED = re.compile(
    r"(?:^[^\n]{50,}[^\s.!?:;][ \t]*\n(?=[ \t]{2,}\S|[\"'(`\u00ab\u201c]?[^\W\d_A-Z]))+[^\n]+", re.MULTILINE
)
"""Lines broken in a sentence, at a width: a person who types lets them run on."""

_FORBIDS = re.compile(r"(?<![-\w])(?:never|not?|don['\u2019]t|forbidden|avoid)\b", re.IGNORECASE)
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


def pasted_spans(text: str) -> Iterator[Span]:
    """Yield where *text* was pasted; spans may overlap."""
    if len(text) > LONGEST_TYPED:
        yield 0, len(text)
        return
    for pattern in (_BLOCKS, _QUOTED):
        yield from (found.span() for found in pattern.finditer(text))
    lines = [found.span() for found in _LINES.finditer(text)]
    yield from lines
    for (start, end), (following, last) in pairwise(lines):
        # What stands between two lines of a log belongs to it; between two quotations, it is a reply.
        if text[start] not in _REPLIED and text.count("\n", end, following) <= _WITHIN_A_LOG:
            yield start, last
    if handed := _HANDED_OVER.match(text):
        yield handed.end(), len(text)
    yield from (found.span() for found in _LINE.finditer(text) if is_disguised(found[0]))
    yield from _unmarked(text)


def _unmarked(text: str) -> Iterator[Span]:
    """Yield lines of a longer message that are broken at a width, or instruct as a page does."""
    lines = [found.span() for found in _LINE.finditer(text) if found[0].strip()]
    if len(lines) >= _LONG_MESSAGE:
        yield from (found.span() for found in _WRAPPED.finditer(text))
        told = ((span, text[slice(*span)]) for span in lines[1:])
        yield from (
            span for span, line in told if aims(line, is_typed=True) - (RULES if _FORBIDS.search(line) else frozenset())
        )
