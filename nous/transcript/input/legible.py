"""Whether bytes are text at all."""

_CONTROLS = tuple(map(chr, (*range(9), 11, *range(14, 27), *range(28, 32))))
"""What no text holds: not tab, line ends, form feed, escape."""


def is_text(text: str) -> bool:
    """Whether a person could read this: next to no control characters, and few bytes that no encoding explains."""
    strange = sum(map(text.count, _CONTROLS))
    return strange * 200 <= len(text) and text.count("\ufffd") * 10 <= len(text)
