"""What `nous status` says of the model: what came of its calls, whether it is out, and the day's tokens."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from nous.cli.show import FAILURES, counted, table
from nous.events import EpisodeOutdated
from nous.llm.base import Failure
from nous.wiring import World

_COUNTS = ("calls", "answered", "remembered", "asked_again", "without_schema", "tokens_in", "tokens_out")
_OFF = ("title", "summary", "rationale")
_HEADS = {
    "timeout": "timed out",
    "transport": "not reached",
    "quota": "had enough",
    "parse": "unusable",
    "other": "refused",
    "asked_again": "asked again",
    "without_schema": "without schema",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
}


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
        "to_be_made_anew": _left(world, author.by) if author else 0,
    }


def _left(world: World, by: str) -> int:
    """The episodes that *by* has not made yet: those that were not offered to it, and those that were, and wait."""
    readers = [each for each in world.subscriptions if each.kind is EpisodeOutdated]
    backlogs = [backlog for reader in readers for backlog in world.ledger.backlogs(reader)]
    return sum(1 for _ in world.kit.briefs.unrefined(but=(by,))) + sum(b.pending + (b.waiting or 0) for b in backlogs)


def _row(counts: Mapping[str, int]) -> dict[str, int]:
    return (
        {name: counts.get(name, 0) for name in _COUNTS}
        | {name: counts.get(f"failed_{name}", 0) for name in FAILURES}
        | {f"off_{name}": counts.get(f"off_{name}", 0) for name in _OFF}
    )


def model_sections(report: Mapping[str, Any]) -> Iterator[str]:
    """The same for the eye; nothing where there is no model and never was."""
    if report["problem"]:
        yield f"workers do not start: {report['problem']}"
    if report["calls"]:
        names = (*_COUNTS, *FAILURES)
        rows = ((*(str(row[each]) for each in names), model) for model, row in report["calls"].items())
        yield table((*(_HEADS.get(each, each) for each in names), "model"), rows)
    for name, pause in report["out"].items():
        if name == report["configured"]:
            yield _out(name, pause)
    if report["tokens_today"] and report["daily_tokens"]:
        rows = ((f"{each['spent']:,}", f"{each['reserved']:,}", each["scope"]) for each in report["tokens_today"])
        yield table((f"tokens today, of {report['daily_tokens']:,}", "set aside", "scope"), rows)
    if left := report["to_be_made_anew"]:
        yield f"{counted(left, 'episode')} {'is' if left == 1 else 'are'} still to be made anew by the model"


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
            return f"{model} has not answered since {since} ({_HEADS[failure]}); {again}"
