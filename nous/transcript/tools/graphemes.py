"""Text in the units in which people count characters."""

import regex


def first_graphemes(text: str, limit: int) -> str:
    """*text*, or its first *limit* grapheme clusters and `...` if it has more of them."""
    if len(text) <= limit:
        return text
    kept = regex.match(rf"\X{{{limit}}}", text)
    return f"{kept[0]}..." if kept and kept.end() < len(text) else text
