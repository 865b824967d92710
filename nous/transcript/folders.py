"""The files in a folder and below it, for those who look for transcripts."""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from nous.transcript.sub_agents import FOLDER

_OF_PROGRAMS = frozenset({"__pycache__", "node_modules"})
_OF_A_TREE = frozenset({"session", "message"})
"""The folders of OpenCode's storage: the files in the first are sessions, those in the second are parts of them."""

LeftOut = Callable[[Collection[str]], Collection[str]]
"""Which of the names in one folder are not looked at."""

Unreadable = Callable[[Path, str], object]
"""Is told of a folder that could not be read, and why."""


def below(folder: Path, unreadable: Unreadable, *, left_out: LeftOut = lambda _: ()) -> Iterator[Path]:
    """The files in *folder* and below, in the order of their names; no pipes, and nothing is opened.

    Left out are what is hidden, unless it is *folder* itself, what belongs to programs, and what is *left out*. A link
    to a file is followed, and one to a folder is not: so nothing goes round in circles.
    """
    waiting = list(_places(folder, unreadable, left_out))
    while waiting:
        place = waiting.pop()
        if place.is_dir(follow_symlinks=False):
            waiting.extend(_places(Path(place.path), unreadable, left_out))
        elif _is_file(place):
            yield Path(place.path)


def parts_of_sessions(names: Collection[str]) -> Collection[str]:
    """Of the *names* in a folder, those of folders whose files are no sessions but parts of one.

    They are read with it: what its sub-agents said, and its messages, where each lies in a file of its own.
    """
    return {FOLDER, "message", "part"} if set(names) >= _OF_A_TREE else {FOLDER}


def _places(folder: Path, unreadable: Unreadable, left_out: LeftOut) -> list[os.DirEntry[str]]:
    """What is in *folder*, the last name first."""
    try:
        with os.scandir(folder) as listing:
            places = {place.name: place for place in listing if not place.name.startswith(".")}
    except OSError as error:
        unreadable(folder, f"it could not be read: {error.strerror or error}")
        return []
    unwanted = {*_OF_PROGRAMS, *left_out(places.keys())}
    return [places[name] for name in sorted(places, reverse=True) if name not in unwanted]


def _is_file(place: os.DirEntry[str]) -> bool:
    with suppress(OSError):  # a link that leads to itself, say
        return place.is_file()
    return False
