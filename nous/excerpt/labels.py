"""What an excerpt says in its own name, labels and marks of gaps, kept apart from what the session says."""

import re

from nous.excerpt.items import Role

_LABELS = "|".join([*Role, "Part", "The session began", "Just before"])
_OURS = re.compile(rf"\[(?=(?:{_LABELS})\b|\.\.\. )")
_LIKE_OURS = re.compile(rf"([\n\r\v\f\x85\u2028\u2029]){_OURS.pattern}")


def as_said(text: str) -> str:
    """*text*, of which no further line can be taken for one of the excerpt's own, with a label or the mark of a gap."""
    if "[" not in text:
        return text
    is_plain = text.isascii() and "\v" not in text and "\f" not in text
    if is_plain and "\n[" not in text and "\r[" not in text:
        return text
    return _LIKE_OURS.sub(r"\g<1>\\[", text)


def unlike_ours(line: str) -> str:
    """A *line* that stands at the beginning of another, which `as_said` would not see."""
    return f"\\{line}" if line.startswith("[") and _OURS.match(line) else line
