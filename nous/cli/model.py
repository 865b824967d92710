"""What `nous status` says of the model: what came of its calls, whether it is out, and the day's tokens."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from nous.cli.show import table
from nous.llm.base import Failure
from nous.wiring import World

_COUNTS = ("calls", "answered", "remembered", "asked_again", "without_schema", "tokens_in", "tokens_out")
_OFF = ("title", "summary", "rationale")
_FAILURES = ("timeout", "transport", "quota", "parse", "other")


def model_report(world: World) -> dict[str, Any]:
    """What is written down of the model, as `nous status --json` shows it.

    A call fails with timeout, transport, quota or other; parse counts answers that could not be used, not calls.
    `off_*` count titles, summaries and rationales that are not of the size that was asked for.
    """
    books, today = world.model_books, datetime.now(UTC).date()
    author = world.kit.author
    return {
        "configured": world.settings.background_model,
        "problem": str(world.mind.problem) if world.mind.problem else None,
        "prompt": author.prompt.version if author else None,
        "calls": {name: _row(counts) for name, counts in books.tally.counts().items()},
        "out": {
            name: {"since": pause.since, "until": pause.until, "failure": pause.failure, "failures": pause.failures}
            for name, pause in books.outages.current().items()
        },
        "tokens_today": [
            {"scope": str(each.scope), "spent": each.spent, "reserved": each.reserved}
            for each in books.allowance.spending(today)
        ],
        "daily_tokens": world.settings.llm.daily_tokens,
        "to_be_made_anew": sum(1 for _ in world.kit.briefs.unrefined(but=(author.by,))) if author else 0,
    }


def _row(counts: Mapping[str, int]) -> dict[str, int]:
    return (
        {name: counts.get(name, 0) for name in _COUNTS}
        | {name: counts.get(f"failed_{name}", 0) for name in _FAILURES}
        | {f"off_{name}": counts.get(f"off_{name}", 0) for name in _OFF}
    )


def model_sections(report: Mapping[str, Any]) -> Iterator[str]:
    """The same for the eye; nothing where there is no model and never was."""
    if report["problem"]:
        yield f"workers do not start: {report['problem']}"
    if report["calls"]:
        heads = (*_COUNTS, *_FAILURES, "model")
        yield table(heads, ((*(str(row[head]) for head in heads[:-1]), name) for name, row in report["calls"].items()))
    for name, pause in report["out"].items():
        if name == report["configured"]:
            yield _out(name, pause)
    if report["tokens_today"]:
        limit = f"of {report['daily_tokens']:,}" if report["daily_tokens"] else "of any number"
        rows = ((f"{each['spent']:,}", f"{each['reserved']:,}", each["scope"]) for each in report["tokens_today"])
        yield table((f"tokens today, {limit}", "set aside", "scope"), rows)
    if report["to_be_made_anew"]:
        yield f"{report['to_be_made_anew']} episodes are still to be made anew by the model"


def _out(model: str, pause: Mapping[str, Any]) -> str:
    """Since when *model* is out, why, and until when it is left alone."""
    since = f"{pause['since']:%Y-%m-%d %H:%M:%S} UTC"
    again = f"it is asked again from {pause['until']:%H:%M:%S} UTC on"
    match pause["failure"]:
        case Failure.OTHER:
            why = "its key, account, name or address has to be changed (`nous episodes` and the log say which)"
            return f"{model} has refused to answer since {since}: {why}; {again}"
        case Failure.QUOTA:
            return f"{model} has had enough since {since}; {again}"
        case failure:
            return f"{model} has not answered since {since} ({failure}); {again}"
