"""Subcommands of `nous facts`: learn from JSON lines; list, merge, supersede similar facts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from itertools import islice
from typing import Any, BinaryIO, TypeVar, cast
from uuid import uuid4, uuid5

import click
import orjson
from pydantic import ValidationError

from nous.app.container import Container
from nous.bus.base import Conflict
from nous.bus.erasure import WasForgotten, session_name, text_name
from nous.cli.framework import BAD_INPUT, App, json_option, limit_option, opened, scope_option
from nous.cli.lookup import elsewhere, knowledge_of, one_of
from nous.cli.memory_text import fact_lines, fact_object
from nous.cli.output import fitted, note, print_json, render, say
from nous.domain.effects import AppendFacts, Effects
from nous.domain.episode import NAMESPACE, CandidateFact, Outcome, Summary, Trust
from nous.domain.errors import BadInput, Retryable
from nous.domain.events import EpisodeSummarized, FactsUnembedded
from nous.domain.fact import LinkKind, Row, Source, Superseded
from nous.domain.record_codec import adapter
from nous.domain.scope import Scope, checked_name
from nous.knowledge.candidate_filter import checked
from nous.knowledge.decision import FactDecision, announcements, unembedded
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.normalize import exact_form
from nous.knowledge.open_pairs import OpenPair, open_pairs
from nous.knowledge.precedence import keeping_apart, merging, superseding, unsettling
from nous.pipeline.fact_learner import FactLearner
from nous.summary.llm.response import is_date
from nous.text.sanitize import one_line, shortened
from workers.fact_extractor import NAME

_REFUSALS = 1000
_LONGEST_REASON = 1000
_AT_ONCE = 64
_FORM = """"The API is on port 8080" in quotes, or {"text": "...", "subject": "..."}"""
Complain = Callable[[int, str], None]
"""Called with the number of a line that cannot be used, and the reason."""

_Settled = tuple[KnownFact, KnownFact, tuple[Row, ...]]

T = TypeVar("T")


@click.command()
@click.argument("source", default="-", metavar="[FILE]")
@scope_option
@click.option("--session", help="Id of the session that says so. Facts that it repeats add nothing.")
@click.option("--again", is_flag=True, help="Learn forgotten facts again, and accept a forgotten session.")
@json_option
@click.pass_obj
def learn(app: App, source: str, *, scope: Scope, session: str | None, again: bool, as_json: bool) -> None:
    """Learn candidate facts from FILE or standard input, and print the verdict on each.

    A line is a JSON string, or an object with `text` and, if known, category, subject, confidence, turns and
    event_date. The verdict is new, known, richer, supersedes, duplicate (a possible one: see `facts duplicates`) or
    linked. It comes with the reason, the id of the fact that now says it, and the other fact's id. A line that cannot
    be used is reported, and the others are learned. JSON is one line per verdict. A candidate has several if it
    supersedes several facts.
    """
    refused: list[int] = []

    def complain(number: int, reason: str) -> None:
        refused.append(number)
        note(f"line {number}: {reason}")

    container = app.container
    name = checked_name(f"cli-{uuid4().hex[:8]}" if session is None else session, "the id of a session")
    with opened(source) as stream:
        lines = _candidates(stream, complain)
        while batch := list(islice(lines, _AT_ONCE)):
            if again:
                let_back(container, scope, name, (each for _, each in batch))
            forgotten, wanted = container.tombstones.forms(scope), list[CandidateFact]()
            for number, each in batch:
                if exact_form(each.text) in forgotten:
                    complain(number, "text: it was forgotten on request; --again learns it all the same")
                else:
                    wanted.append(each)
            for decision in teach(container, scope, name, wanted):
                print_json(_as_object(decision), indent=False) if as_json else say(_in_words(decision))
    click.get_current_context().exit(BAD_INPUT if refused else 0)


def _candidates(source: BinaryIO, complain: Complain) -> Iterator[tuple[int, CandidateFact]]:
    """Yield each line's number and candidate: the user's word, unless it sets `trust`."""
    for number, raw in enumerate(source, start=1):
        if not raw.strip():
            continue
        try:
            said = orjson.loads(raw)
            fields = cast("dict[str, Any]", said if isinstance(said, dict) else {"text": said})
            yield number, candidate({"trust": Trust.USER, **fields})
        except orjson.JSONDecodeError as error:
            complain(number, f"not JSON: {error.msg}; write {_FORM}")
        except BadInput as error:
            complain(number, str(error))


def candidate(said: dict[str, Any]) -> CandidateFact:
    """Return *said*, an object with the fields of a `CandidateFact`, as a valid candidate.

    Unknown fields are ignored.

    Raises:
        BadInput: it cannot be learned, or a field is misspelt.
    """
    fields = tuple(CandidateFact.__dataclass_fields__)
    for name in said:
        if name not in fields and (meant := get_close_matches(name, fields, n=1, cutoff=0.75)):
            raise BadInput(f"{name}: is no field of a fact; {meant[0]} is")
    try:
        found: CandidateFact = adapter(CandidateFact).validate_python(said)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise BadInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if found.event_date is not None and not is_date(found.event_date):
        date = shortened(found.event_date, 40)
        raise BadInput(f"event_date: {date!r} is no day, month or year in ISO 8601: 2026-03-01, 2026-03 or 2026")
    return checked(found)


def _as_object(decision: FactDecision) -> dict[str, Any]:
    return {
        "verdict": decision.verdict.name,
        "reason": decision.verdict.reason,
        "fact_id": decision.fact.id,
        "other_fact_id": decision.other_id,
        "similarity": getattr(decision.verdict, "similarity", None),
        "text": decision.text,
    }


def _in_words(decision: FactDecision) -> str:
    said = fitted(decision.text, beside=49)
    other = f"  [{decision.other_id}]" if decision.other_id not in {None, decision.fact.id} else ""
    reason = f"{'':<10} {one_line(decision.verdict.reason)}{other}"
    return f"{decision.verdict.name:<10} {said}  {decision.fact.id}\n{reason}"


def teach(
    container: Container, scope: Scope, session: str, candidates: Sequence[CandidateFact], *, by: str | None = None
) -> Sequence[FactDecision]:
    """Judge and store *candidates* as said by *session*, all or none; *by* found them.

    Those that are forgotten meanwhile are skipped.

    Raises:
        WasForgotten: the session was forgotten.
        Retryable: other writers kept changing the scope.
    """
    candidates = container.redaction.record(tuple(candidates), where="learn")
    cause = _cause(scope, session, candidates, container)
    source = Source(
        episode_id=cause.episode_id, event_id=cause.id, session_id=session, turns=(), said_at=cause.time, by=by
    )

    def prepare() -> tuple[Effects | None, Sequence[FactDecision]]:
        if tombstone := container.tombstones.find(scope, session_name(scope, session)):
            raise WasForgotten(
                f"session {session} of scope {scope} was forgotten on {tombstone.at:%Y-%m-%d %H:%M}; "
                "use --again to accept it"
            )
        learned = FactLearner(container.context).ingest(candidates, scope=scope, source=source)
        if not learned.append.rows:
            return None, learned.fact_decisions
        events = announcements(cause, learned.fact_decisions, by=NAME, at=container.clock(), waits=learned.waits)
        return Effects(writes=(learned.append,), events=tuple(events)), learned.fact_decisions

    return _committed(container, scope, prepare)


def let_back(container: Container, scope: Scope, session: str, candidates: Iterable[CandidateFact]) -> None:
    """Lift the suppression of forgotten *candidates*, and of the session."""
    for each in candidates:
        container.tombstones.lift(scope, session_name(scope, session))
        container.tombstones.lift(scope, text_name(scope, each.text))


def _cause(scope: Scope, session: str, candidates: Sequence[CandidateFact], container: Container) -> EpisodeSummarized:
    """Return the event that causes the facts: as of an episode entered by hand.

    The same words of the same session are one cause, since its id derives from both.
    """
    words = "\n".join(exact_form(candidate.text) for candidate in candidates)
    event_id = uuid5(NAMESPACE, f"told\n{scope}\n{session}\n{words}")
    by_hand, outcome = "Told by hand", Outcome.INFORMATIONAL
    summary = Summary(title=by_hand, summary="", key_points=(), outcome=outcome, outcome_rationale=by_hand, topics=())
    return EpisodeSummarized(
        id=event_id,
        time=container.clock(),
        source="nous/facts-learn",
        scope=scope,
        agent_id="default",
        session_id=session,
        trace_id=event_id,
        episode_id=uuid5(NAMESPACE, f"told\n{scope}\n{session}"),
        version="",
        summary=summary,
    )


def _committed(container: Container, scope: Scope, prepare: Callable[[], tuple[Effects | None, T]]) -> T:
    """Apply the effects that *prepare* returns, if any; return its result. On conflict, repeat."""
    for _ in range(_REFUSALS):
        effects, result = prepare()
        if effects is None or not isinstance(container.bus.apply(effects), Conflict):
            return result
    raise Retryable(f"other writers keep changing the facts of {scope}; try again")


@click.command()
@scope_option
@limit_option(20)
@json_option
@click.pass_obj
def duplicates(app: App, *, scope: Scope, limit: int, as_json: bool) -> None:
    """List pairs of current facts that are possible duplicates or updates, likeliest first.

    `facts merge`, `facts keep-apart` or `facts supersede` settles a pair and removes it from the list.
    """
    with knowledge_of(app.container, scope) as knowledge:
        found = open_pairs(knowledge)
        render(
            [
                {
                    **asdict(pair.link),
                    "newer": fact_object(pair.newer, knowledge),
                    "older": fact_object(pair.older, knowledge),
                }
                for pair in found[:limit]
            ],
            ("\n".join(_pair_lines(pair, knowledge)) for pair in found[:limit]),
            as_json=as_json,
            empty="" if found else f"no possible duplicates in {scope}{elsewhere(app.container, scope)}",
        )
    if len(found) > limit:
        note(f"there are {len(found):,}, and these are {limit}; --limit shows more")


def _pair_lines(pair: OpenPair, knowledge: FactIndex) -> Iterator[str]:
    link = pair.link
    likely = "" if link.likelihood is None else f" (likelihood {link.likelihood:.2f})"
    kind = "possible update" if link.kind is LinkKind.UPDATE else "possible duplicate"
    yield f"{kind}{likely}: {one_line(link.reason)}"
    for known in (pair.newer, pair.older):
        yield from (f"  {line}" for line in fact_lines(known, knowledge))


def _settles(first: str, second: str, because: str) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that settles two facts, for a default reason."""

    def decorated(function: Callable[..., None]) -> click.Command:
        for option in (
            click.pass_obj,
            click.option("--because", default=because, show_default=True, help="Reason, shown by `nous provenance`."),
            scope_option,
            click.argument(second),
            click.argument(first),
        ):
            function = option(function)
        return click.command(function)

    return decorated


@_settles("old", "new", "a person says so")
def supersede(app: App, old: str, new: str, *, scope: Scope, because: str) -> None:
    """Replace fact OLD by fact NEW. Give ids that `nous facts` prints, or id prefixes.

    OLD stays, and is shown as true until then. It is no longer current, and new facts are not compared with it. `facts
    unsettle` reverts this.
    """
    gone, by, _ = _settled(app, (old, new), scope, because, superseding)
    _print_result("superseded", gone, "by", by)


@_settles("fact", "into", "a person says that they are the same")
def merge(app: App, fact: str, into: str, *, scope: Scope, because: str) -> None:
    """Merge FACT into INTO, which says the same. Give ids that `nous facts` prints, or prefixes.

    INTO stays current, in its own words. Sessions that said FACT count as sources of INTO from now on, and so do those
    that say FACT again. FACT stays readable. `facts unsettle` reverts the merge.
    """
    one, other, rows = _settled(app, (fact, into), scope, because, merging)
    _print_result("merged" if rows else "already merged", one, "into", other)


@_settles("one", "other", "a person says that they are two")
def keep_apart(app: App, one: str, other: str, *, scope: Scope, because: str) -> None:
    """Keep facts ONE and OTHER apart for good. Give ids that `nous facts` prints, or prefixes.

    They are no longer listed as duplicates, and neither rules nor a model merge them. `facts unsettle` reverts this.
    """
    first, second, rows = _settled(app, (one, other), scope, because, keeping_apart)
    _print_result("kept apart" if rows else "already kept apart", first, "from", second)


@_settles("one", "other", "a person took it back")
def unsettle(app: App, one: str, other: str, *, scope: Scope, because: str) -> None:
    """Revert a merge, a replacement or a keep-apart between facts ONE and OTHER.

    Both are then as before. A merged fact is current again, with the sessions that said it in its words. You can also
    revert what rules or a model have merged or replaced.
    """
    first, second, rows = _settled(app, (one, other), scope, because, unsettling)
    match rows:
        case (Superseded(fact_id=back), *_):
            again, beside = (first, second) if first.fact.id == back else (second, first)
            _print_result("current again", again, "beside", beside)
        case (_, *_):
            _print_result("no longer kept apart", first, "from", second)
        case _:
            _print_result("nothing is settled between", first, "and", second)


def _print_result(done: str, one: KnownFact, preposition: str, other: KnownFact) -> None:
    for what, known in ((done, one), (f"  {preposition}", other)):
        say(f"{what}: {fitted(known.fact.text, beside=len(what) + 2)}")


def _settled(
    app: App, names: tuple[str, str], scope: Scope, because: str, decide: Callable[..., tuple[Row, ...]]
) -> _Settled:
    """Append the rows that *decide* returns for two facts; return both as before, and the rows.

    Vectors are requested for a fact that is current again and has none.
    """
    container, reason = app.container, shortened(one_line(because), _LONGEST_REASON)

    def prepare() -> tuple[Effects | None, _Settled]:
        with knowledge_of(container, scope) as knowledge:
            one, other = (one_of(name, knowledge, container, scope) for name in names)
            if one is other:
                raise BadInput(f"{names[0]} and {names[1]} are the same fact: {shortened(one.fact.text, 70)}")
            rows = decide(one, other, knowledge=knowledge, reason=reason, at=container.clock())
            write = AppendFacts(scope=scope, expected=knowledge.version, rows=rows)
            event = unembedded(FactsUnembedded, scope, state=str(knowledge.version), at=container.clock())
            back = (row.fact_id for row in rows if isinstance(row, Superseded) and row.is_undone)
            events = (event,) if any(not knowledge[fact].is_embedded for fact in back) else ()
            return Effects(writes=(write,), events=events) if rows else None, (one, other, rows)

    return _committed(container, scope, prepare)
