"""The command line, as tests call it."""

from collections.abc import Callable

from click.testing import Result

Nous = Callable[..., Result]
"""`nous("facts", "learn", stdin="...")` and what came of it."""
