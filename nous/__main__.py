"""Entry point of the command `nous` and of `python -m nous`."""

import atexit
import gc

from nous.cli import main

_START_UP_OBJECTS = 20_000
"""New objects before the collector looks for garbage. A command's imports make many, of which all stay: looking every
700 objects, Python's default, takes a tenth of a short command's time.
"""


def run() -> None:
    gc.set_threshold(_START_UP_OBJECTS)
    atexit.register(gc.freeze)  # else Python collects once more as it exits: a fifth of a short command's time
    main(prog_name="nous")


if __name__ == "__main__":
    run()
