"""What something costs, whatever machine it runs on."""

import sys
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many functions *work* calls."""
    count = 0

    def counted(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
