"""What an excerpt says in its own name, labels and marks of gaps, kept apart from what the session says."""

import re

from nous.excerpt.items import Role

_LABELS = "|".join([*Role, "Part", "The session began", "Just before"])
_OURS = re.compile(rf"\[(?=(?:{_LABELS})\b|\.\.\. )")
_ODD_BREAKS = frozenset("\v\f\x1c\x1d\x1e")
_LIKE_OURS = re.compile(rf"([\n\r\v\f\x1c-\x1e\x85\u2028\u2029]){_OURS.pattern}")


def as_said(text: str) -> str:
    """*text*, of which no further line can be taken for one of the excerpt's own, with a label or the mark of a gap."""
    if "[" not in text:
        return text
    is_plain = text.isascii() and _ODD_BREAKS.isdisjoint(text)
    if is_plain and "\n[" not in text and "\r[" not in text:
        return text
    return _LIKE_OURS.sub(r"\g<1>\\[", text)


def no_label(text: str) -> str:
    """*text* that is put on a line of its own, as long as it was: what could be a label there gets a round bracket."""
    at = len(text) - len(text.lstrip())
    return f"{text[:at]}({text[at + 1 :]}" if _OURS.match(text, at) else text


def unlike_ours(line: str) -> str:
    """A *line* that stands at the beginning of another, which `as_said` would not see."""
    return f"\\{line}" if line.startswith("[") and _OURS.match(line) else line
