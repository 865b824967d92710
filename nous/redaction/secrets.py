"""Detect and mask credentials (passwords, API keys, tokens, card numbers) in text.

Facts are not extracted from a text in which one is detected.
"""

import re
from collections import Counter
from math import log2

_KNOWN = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_]?[A-Za-z0-9_-]{12,}|\bgh[opsu]_[A-Za-z0-9]{20,}|\bxox[abpr]-|\bAKIA[0-9A-Z]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{10,1000}\.|-----BEGIN |\bAIza[0-9A-Za-z_-]{20,}|\bglpat-|\bREDACTED\b"
)
_NAMED = re.compile(
    r"(?<![A-Za-z])(?:password|passwd|passphrase|secret|(?:api|access|private)[ _-]?key|(?:access|auth)[ _-]?token)"
    r"(?![A-Za-z])['\"]?\s*(?:is|[:=])\s*\S{4,}|\bbearer\s+(?:is\s+|[:=]\s*)?(?=\S{0,200}\d)\S{8,}"
    r"|(?<![A-Za-z])token['\"]?\s*[:=]\s*(?=\S{0,200}\d)\S{8,}|://[^/\s:@]+:[^/\s@]{4,}@",
    re.IGNORECASE,
)
_CARD = re.compile(r"\d(?<![\w-]\d)[ -]?(?:\d[ -]?){12,18}(?![\w-])")  # anchoring on a digit makes the search fast
_LONG = 24
_TOKEN = re.compile(rf"[A-Za-z0-9+=_-]{{{_LONG},}}")
_HINTS = ("k-", "k_", "gh", "xox", "AKIA", "eyJ", "-----BEGIN", "AIza", "glpat-", "REDACTED")
_NAMES = ("pass", "secret", "key", "token", "bearer", "://")
"""Every match of `_KNOWN` or `_NAMED` contains one of these. Substring search first is faster than the patterns."""

MARK = "[hidden]"
"""Placeholder for a masked credential."""

_RANDOM_ENOUGH = 3.8
"""Minimum entropy of a random token, in bits per character. Names and words stay below it."""


def looks_secret(text: str) -> bool:
    """Return whether *text* probably contains a credential. Prefers false positives."""
    lower = text.lower()
    if any(hint in text for hint in _HINTS) and _KNOWN.search(text):
        return True
    if any(name in lower for name in _NAMES) and _NAMED.search(text):
        return True
    if _CARD.search(text):
        return True
    return any(_is_random(token) for word in text.split() if len(word) >= _LONG for token in _TOKEN.findall(word))


def masked(text: str) -> str:
    """Replace everything in *text* that looks like a credential by `MARK`.

    `looks_secret` finds nothing in the result. Idempotent: masked text is returned unchanged.
    """
    if not looks_secret(text):
        return text
    text, cut, _ = text.partition("-----BEGIN ")
    for pattern in (_KNOWN, _NAMED):
        text = re.sub(rf"(?:{pattern.pattern})[^\s'\"`]*", MARK, text, flags=pattern.flags)
    text = _TOKEN.sub(lambda found: MARK if _is_random(found[0]) else found[0], _CARD.sub(MARK, text))
    text += MARK if cut else ""
    return MARK if looks_secret(text) else text


def _is_random(token: str) -> bool:
    has_all = any(c.isdigit() for c in token) and any(c.islower() for c in token) and any(c.isupper() for c in token)
    return has_all and _entropy(token) >= _RANDOM_ENOUGH


def _entropy(token: str) -> float:
    counts = Counter(token)
    return -sum(n / len(token) * log2(n / len(token)) for n in counts.values())
