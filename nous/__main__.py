"""`python -m nous` is the command `nous`."""

from nous.cli import main

main(prog_name="nous")
