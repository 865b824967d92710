"""Input of commands, from a file or from standard input."""

from contextlib import AbstractContextManager
from typing import BinaryIO, cast

import click

from nous.cli.show import say
from nous.errors import BadInput
from nous.readable import one_line
from nous.transcript.model import Transcript
from nous.transcript.refusal import damage


def opened(source: str) -> AbstractContextManager[BinaryIO]:
    """The file *source*, or standard input where it is `-`.

    Raises:
        BadInput: it cannot be read.
    """
    try:
        return cast("AbstractContextManager[BinaryIO]", click.open_file(source, "rb"))
    except OSError as error:
        raise BadInput(f"{source} could not be read: {error.strerror}") from error


def warn_of_damage(transcript: Transcript, source: str) -> None:
    """Say on standard error where *transcript* is not all of *source*, whose packed data is damaged."""
    if reason := damage(transcript.skipped):
        say(one_line(f"nous: {named(source)}: {reason}; what comes before the damage is shown"), err=True)


def named(source: str) -> str:
    """What people call *source*."""
    return "standard input" if source == "-" else source
