"""How many examples a law is tried with."""

import os

import pytest
from hypothesis import settings


def pytest_configure(config: pytest.Config) -> None:
    """Few by default; HYPOTHESIS_EXAMPLES makes them as many as it says, `--hypothesis-profile` has the last word."""
    if not config.getoption("--hypothesis-profile", default=None):
        settings.register_profile("few", max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "40")))
        settings.load_profile("few")
