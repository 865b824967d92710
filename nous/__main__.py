"""Entry point of `python -m nous`: the same as the command `nous`."""

from nous.cli import main

main(prog_name="nous")
