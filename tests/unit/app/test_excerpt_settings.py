"""What of the excerpt can be set, what is refused, and that what is set reaches the summarizer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeRedis

from nous.app.container import Container
from nous.domain.errors import Misconfigured
from nous.excerpt import Windows, windows
from nous.settings import Settings
from nous.settings.model import ExcerptSettings
from nous.text.token_estimate import estimate
from nous.transcript.model import Transcript

pytestmark = pytest.mark.usefixtures("nowhere")

Told = Callable[..., Transcript]

COUNTER = """
def by_fours(text, /):
    return -(-len(text) // 4)

NOTHING = None
"""


def excerpts(**values: Any) -> Callable[[Transcript], Windows]:
    """What the workers of a process get to see of a transcript, with the excerpt set so."""
    settings = Settings(redis_url="redis://nowhere", embedder="hashed", excerpt=ExcerptSettings(**values))
    return Container(settings=settings, client=FakeRedis()).context.excerpts


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module of the operator's own, which has a counter."""
    (tmp_path / "counting_of_ours.py").write_text(COUNTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "counting_of_ours"


@pytest.fixture
def long(told: Told) -> Transcript:
    return told(
        *((kind, f"{kind} {n} " + "words and words " * 12) for n in range(80) for kind in ("user", "assistant"))
    )


def test_what_is_set_is_what_a_summarizer_gets(long: Transcript) -> None:
    seen = excerpts(budget=900, windows=3, strategy="spec")(long)

    assert seen == windows(long, 900, most=3, strategy="spec")
    assert (len(seen.windows), seen.wanted > 3) == (3, True)


def test_tokens_are_estimated_unless_a_counter_is_named(long: Transcript) -> None:
    assert excerpts(unit="tokens", budget=300)(long) == windows(long, 300, unit="tokens", count=estimate)


def test_a_counter_of_the_operators_own_is_found_by_its_name(long: Transcript, module: str) -> None:
    seen = excerpts(unit="tokens", budget=300, windows=2, counter=f"{module}:by_fours")(long)

    texts = [window.excerpt.text for window in seen.windows]
    assert all(0.8 * 300 < -(-len(text) // 4) <= 300 for text in texts)


@pytest.mark.parametrize(
    "name",
    ["by_fours", "counting_of_ours:missing", "no_module_of_ours:by_fours", "counting_of_ours:NOTHING", "os:getcwd"],
)
def test_a_counter_that_is_no_function_is_refused_at_the_start_with_how_to_write_one(module: str, name: str) -> None:
    """Not at the first session, whose event would be buried for it."""
    assert module

    with pytest.raises(Misconfigured, match=r"excerpt\.counter = .*write estimate or package\.module:function"):
        excerpts(unit="tokens", counter=name)
