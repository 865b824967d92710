"""The strategies, one file each: another file here is another strategy."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from nous.domain.errors import BadInput
from nous.excerpt.strategy import Strategy


@cache
def names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(__path__)))


def named(name: str) -> Strategy:
    """The strategy of that name.

    Raises:
        BadInput: there is none.
    """
    if name not in names():
        raise BadInput(f"{name!r} is not a strategy: choose one of {', '.join(names())}")
    return import_module(f"{__name__}.{name}").STRATEGY
