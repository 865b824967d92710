"""Standard streams that are closed: hooks and daemons start a program like that."""

import os
import sys


def open_closed_streams() -> None:
    """Let each of them read nothing, and write to nowhere.

    Whatever is opened next would stand in its place otherwise, and be written to by those who say something there.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 (as long as the process lives)
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003 (it takes no name)
            setattr(sys, name, stream)
