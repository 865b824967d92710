"""Tables that read well in a terminal and are Markdown too."""

from collections.abc import Iterator, Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Aligned lines; a column is flush right unless it holds words."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    are_words = [any(cell[:1].isalpha() for cell in column[1:]) for column in columns]
    yield _line(head, widths, are_words)
    rule = ["-" * width if words else "-" * (width - 1) + ":" for width, words in zip(widths, are_words, strict=True)]
    yield f"| {' | '.join(rule)} |"
    for row in rows:
        yield _line(row, widths, are_words)


def _line(cells: Sequence[str], widths: Sequence[int], are_words: Sequence[bool]) -> str:
    columns = zip(cells, widths, are_words, strict=True)
    padded = (cell.ljust(width) if words else cell.rjust(width) for cell, width, words in columns)
    return f"| {' | '.join(padded)} |"
