"""Input of commands, from a file or from standard input."""

from contextlib import AbstractContextManager
from typing import BinaryIO, cast

import click

from nous.errors import BadInput


def opened(source: str) -> AbstractContextManager[BinaryIO]:
    """The file *source*, or standard input where it is `-`.

    Raises:
        BadInput: it cannot be read.
    """
    try:
        return cast("AbstractContextManager[BinaryIO]", click.open_file(source, "rb"))
    except OSError as error:
        raise BadInput(f"{source} could not be read: {error.strerror}") from error
