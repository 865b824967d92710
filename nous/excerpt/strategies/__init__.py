"""Registry of excerpt strategies: each module in this package is one."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from nous.domain.errors import BadInput
from nous.excerpt.strategy import Strategy


@cache
def names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(__path__)))


def named(name: str) -> Strategy:
    """Return the strategy with that name.

    Raises:
        BadInput: there is none.
    """
    if name not in names():
        raise BadInput(f"{name!r} is not a strategy: choose one of {', '.join(names())}")
    return import_module(f"{__name__}.{name}").STRATEGY
