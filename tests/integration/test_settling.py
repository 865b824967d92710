"""Possible duplicates on a real server: listed, merged, kept apart and taken back through the command line."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from builders.command_line import Nous

from nous.app.container import Container
from nous.bus.base import Bus, Conflict, Priority, Verdict
from nous.bus.redis.keys import BusKeys
from nous.cli.framework import UNAVAILABLE
from nous.cli.lookup import knowledge_of
from nous.domain.effects import AppendFacts, Effects
from nous.domain.events import FactsUnembedded
from nous.domain.fact import Linked, LinkKind
from nous.domain.scope import Scope

PORT, SHEET, TEA = "The billing service listens on port 9017", "9017 is what billing uses", "Tim drinks tea"
Ids = dict[str, str]


@pytest.fixture
def ids(nous: Nous, container: Container) -> Ids:
    """Three facts by their ids, of which two may be one, and two an old value and a new one."""
    for session, text in (("mon", PORT), ("tue", SHEET), ("wed", TEA)):
        nous("facts", "learn", "--session", session, stdin=json.dumps(text))
    with knowledge_of(container, Scope()) as knowledge:
        found = {known.fact.text: known.fact.id for known in knowledge}
        links = (
            (SHEET, PORT, LinkKind.DUPLICATE, 0.87, "both name 9017"),
            (TEA, PORT, LinkKind.UPDATE, None, "another value"),
        )
        rows = tuple(
            Linked(
                fact_id=found[one],
                other=found[other],
                reason=why,
                at=container.context.clock(),
                kind=kind,
                likelihood=p,
            )
            for one, other, kind, p, why in links
        )
        write = AppendFacts(scope=Scope(), expected=knowledge.version, rows=rows)
    container.bus.apply(Effects(writes=(write,)))
    return {text: str(fact_id) for text, fact_id in found.items()}


def offered(nous: Nous) -> list[tuple[str, str, str]]:
    pairs = json.loads(nous("facts", "duplicates", "--json").stdout)
    return [(each["kind"], each["newer"]["text"], each["older"]["text"]) for each in pairs]


def facts(nous: Nous) -> dict[str, Any]:
    return {each["text"]: each for each in json.loads(nous("facts", "--json").stdout)}


def test_possible_duplicates_are_listed_with_all_that_it_takes_to_settle_them(nous: Nous, ids: Ids) -> None:
    told = nous("facts", "duplicates")
    first = nous("facts", "duplicates", "--limit", "1")

    assert told.stdout.startswith("possible duplicate (likelihood 0.87): both name 9017\n  9017 is what billing uses\n")
    assert "user's words, session mon  " + ids[PORT] in told.stdout
    assert "\npossible update: another value\n" in told.stdout
    assert "may replace" not in first.stdout.partition("possible update")[2]
    assert first.stderr == "nous: there are 2, and these are 1; --limit shows more\n"
    assert offered(nous) == [("duplicate", SHEET, PORT), ("update", TEA, PORT)]
    assert [link["likelihood"] for link in facts(nous)[PORT]["links"]] == [0.87, None]


def test_a_merge_is_told_everywhere_and_taken_back(nous: Nous, ids: Ids) -> None:
    done = nous("facts", "merge", ids[SHEET][:8], ids[PORT][:8], "--because", "one service")
    again = nous("facts", "merge", ids[SHEET], ids[PORT])
    nous("facts", "learn", "--session", "thu", stdin=json.dumps(SHEET))

    assert done.stdout == f"merged: {SHEET}\n  into: {PORT}\n"
    assert (again.stdout, again.exit_code) == (f"already {done.stdout}", 0)
    assert facts(nous).keys() == {PORT, TEA}
    assert facts(nous)[PORT]["times_confirmed"] == 3
    assert f"{SHEET}  (superseded)" in nous("facts", "--all").stdout
    assert f"was merged into {ids[PORT]}: one service (by hand, on " in nous("provenance", ids[SHEET]).stdout
    assert [kind for kind, *_ in offered(nous)] == ["update"]

    back = nous("facts", "unsettle", ids[PORT], ids[SHEET])

    assert back.stdout == f"current again: {SHEET}\n  beside: {PORT}\n"
    assert nous("facts", "unsettle", ids[PORT], ids[SHEET]).stdout.startswith("nothing is settled between: ")
    assert [facts(nous)[text]["times_confirmed"] for text in (PORT, SHEET)] == [1, 2]
    assert offered(nous)[0] == ("duplicate", SHEET, PORT)


def test_the_newer_is_told_as_current_and_the_older_as_earlier(nous: Nous, ids: Ids) -> None:
    assert f'; may replace: "{PORT}")' in nous("context").stdout
    assert f"  may be replaced by: {TEA}  {ids[TEA]}" in nous("facts").stdout
    nous("facts", "supersede", ids[PORT], ids[TEA])

    day = facts(nous)[TEA]["earlier"][0]["until"][:10]
    assert f"  earlier, until {day}: {PORT}  {ids[PORT]}" in nous("facts").stdout
    assert f"  until {day}, then: {TEA}  {ids[TEA]}" in nous("facts", "--all").stdout
    assert f"earlier, until {day}: {PORT}" in nous("search", "Tim tea").stdout
    assert f"until {day}, then: {ids[TEA]}" in nous("search", "billing service port").stdout
    assert f'; until {day}: "{PORT}")' in nous("context").stdout
    told = json.loads(nous("context", "--json").stdout)["facts"]
    assert [each["earlier"]["text"] for each in told if each["earlier"]] == [PORT]


def test_a_scope_that_others_teach_all_the_time_is_given_up_in_the_end(
    nous: Nous, container: Container, ids: Ids, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply: Callable[[Bus, Effects], Verdict] = type(container.bus).apply
    refusals = [3]

    def refusing(bus: Bus, effects: Effects) -> Verdict:
        refusals[0] -= 1
        return apply(bus, effects) if refusals[0] < 0 else Conflict("others were faster")

    monkeypatch.setattr(type(container.bus), "apply", refusing)
    assert nous("facts", "merge", ids[SHEET], ids[PORT]).stdout.startswith("merged")

    refusals[0] = 1000
    assert nous("facts", "unsettle", ids[SHEET], ids[PORT]).exit_code == UNAVAILABLE


def test_a_fact_without_a_vector_that_is_current_again_is_handed_to_workers(
    nous: Nous, container: Container, ids: Ids, monkeypatch: pytest.MonkeyPatch
) -> None:
    nous("facts", "merge", ids[SHEET], ids[PORT])
    stream = BusKeys().stream(FactsUnembedded.type, Priority.LIVE)
    before = container.client.xlen(stream)

    monkeypatch.setenv("NOUS_EMBEDDER", "minilm")
    nous("facts", "unsettle", ids[SHEET], ids[PORT])

    assert container.client.xlen(stream) == before + 1
