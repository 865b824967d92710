"""Input of commands: files and standard input, and warnings about damaged ones."""

from contextlib import AbstractContextManager
from typing import BinaryIO, cast

import click

from nous.cli.output import say
from nous.domain.errors import BadInput
from nous.text.sanitize import one_line
from nous.transcript.load import damage
from nous.transcript.model import Transcript


def opened(source: str) -> AbstractContextManager[BinaryIO]:
    """Open the file *source* for reading, or standard input if it is `-`.

    Raises:
        BadInput: the file cannot be read.
    """
    try:
        return cast("AbstractContextManager[BinaryIO]", click.open_file(source, "rb"))
    except OSError as error:
        raise BadInput(f"{source} could not be read: {error.strerror}") from error


def warn_of_damage(transcript: Transcript, source: str) -> None:
    """Warn on standard error if *transcript* is incomplete since *source* is damaged."""
    if reason := damage(transcript.skipped):
        say(one_line(f"nous: {named(source)}: {reason}; what comes before the damage is shown"), err=True)


def named(source: str) -> str:
    """Return the name of *source* for messages."""
    return "standard input" if source == "-" else source
