"""Build from settings: fact dedup policy, handler deadline, transcript excerpt function."""

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import cast

import structlog

from nous.domain.errors import Misconfigured
from nous.excerpt import BUDGET, Windows, windows
from nous.knowledge.verdict import Dedup, Policy
from nous.redaction.redactor import Redactor
from nous.redaction.rules import Rule, RuleSet, built_in, default_rules
from nous.settings.model import ESTIMATE, RedactSettings, Settings
from nous.text.token_estimate import Counter, estimate

_log = structlog.stdlib.get_logger(__name__)

_HOW_TO_COUNT = "write estimate or package.module:function"
_SLACK = 3.0  # seconds beyond its deadline after which a model call is abandoned


def policy(settings: Settings) -> Policy:
    chosen = settings.dedup
    return Policy(dedup=Dedup(chosen.policy), **chosen.model_dump(exclude={"policy", "ask_model"}))


def redactor(chosen: RedactSettings, key: Callable[[], bytes | None]) -> Redactor:
    """Return the redactor of built-in and *chosen* rules; it asks *key* when it needs one."""
    if not chosen.enabled:
        _log.warning("redaction.disabled", hint="secrets are stored and sent to models: set redact.enabled")
        return Redactor(rules=lambda: RuleSet(()))
    extra = tuple(Rule(id="own", pattern=pattern) for pattern in chosen.extra)
    allow = re.compile("|".join(f"(?:{pattern})" for pattern in chosen.allow)) if chosen.allow else None
    return Redactor(rules=(lambda: RuleSet((*built_in(), *extra))) if extra else default_rules, key=key, allow=allow)


def deadline_of(settings: Settings) -> float:
    """Return a handler's deadline in seconds: as set, or longer if its model calls may be."""
    # Each window may be asked about twice, for the episode and for the anchored summary. A call may first have to wait.
    calls = 4 * settings.excerpt.windows if settings.background_model else 0
    return max(settings.worker.deadline, calls * (2 * settings.llm.deadline + _SLACK))


def excerpts(settings: Settings) -> "partial[Windows]":
    chosen = settings.excerpt
    return partial(
        windows,
        budget=chosen.budget or (16_000 if settings.background_model else BUDGET),
        most=chosen.windows,
        strategy=chosen.strategy,
        unit=chosen.unit,
        count=_counter(chosen.counter),
    )


def _counter(name: str) -> Counter:
    if name == ESTIMATE:
        return estimate
    module, _, function = name.partition(":")
    try:
        counter = getattr(import_module(module), function)
        counts = callable(counter) and isinstance(counter("one"), int)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise Misconfigured(f"excerpt.counter = {name!r}: {error}; {_HOW_TO_COUNT}") from error
    if not counts:
        raise Misconfigured(f"excerpt.counter = {name!r}: that is no function to an int; {_HOW_TO_COUNT}")
    return cast("Counter", counter)
