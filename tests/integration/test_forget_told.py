"""Forgotten content does not come back by a command."""

import json
from dataclasses import replace
from uuid import UUID

from builders.command_line import Nous
from builders.episodes import HOME, episode
from click.testing import Result

from nous.app.container import Container
from nous.domain.effects import AppendFacts, Effects, SaveEpisode
from nous.domain.episode import CandidateFact
from nous.domain.fact import Superseded

KEY = "The garden key lies under the third stone"
KEY_TOO = "the garden key lies under the third stone!"
TEA = "Tim drinks green tea in the morning"


def tell(nous: Nous, *texts: str, session: str = "hand", again: bool = False) -> Result:
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    more = ("--again",) if again else ()
    return nous("facts", "learn", "--scope", "home", "--session", session, *more, stdin=lines)


def forget(nous: Nous, *what: str) -> Result:
    done = nous("forget", *what, "--scope", "home", "--yes")
    assert done.exit_code == 0, done.stderr
    return done


def known(container: Container) -> dict[str, set[str]]:
    """Every current fact, and who has said it."""
    context = container.context
    with context.fact_cache.current(context.facts, HOME, context.embedder) as knowledge:
        return {each.fact.text: {source.session_id for source in each.sources} for each in knowledge.current()}


def id_of(container: Container, text: str) -> str:
    context = container.context
    with context.fact_cache.current(context.facts, HOME, context.embedder) as knowledge:
        return next(str(each.fact.id) for each in knowledge if each.fact.text == text)


def test_a_session_that_was_told_by_hand_is_not_let_back_until_that_is_asked_for(
    nous: Nous, container: Container
) -> None:
    tell(nous, KEY)
    forget(nous, "--session", "hand")

    refused = tell(nous, KEY)

    assert refused.exit_code == 3
    assert "session hand of scope default/default/home was forgotten on" in refused.stderr
    assert known(container) == {}
    assert tell(nous, KEY, again=True).exit_code == 0
    assert tell(nous, TEA).exit_code == 0
    assert known(container) == {KEY: {"hand"}, TEA: {"hand"}}


def test_a_fact_goes_by_the_beginning_of_its_id_and_is_told_again_only_on_request(
    nous: Nous, container: Container
) -> None:
    tell(nous, KEY, TEA)

    forget(nous, "--fact", id_of(container, KEY)[:8])

    refused = tell(nous, TEA, KEY_TOO, session="other")
    assert refused.exit_code == 3
    assert "line 2: text: it was forgotten on request" in refused.stderr
    assert known(container) == {TEA: {"hand", "other"}}
    assert tell(nous, KEY_TOO, session="other", again=True).exit_code == 0
    assert KEY_TOO in known(container)


def test_what_was_let_back_may_be_said_by_all_and_stays_when_another_fact_is_forgotten(
    nous: Nous, container: Container
) -> None:
    tell(nous, KEY, TEA)
    forget(nous, "--fact", id_of(container, KEY))
    tell(nous, KEY, again=True)

    assert tell(nous, KEY_TOO, session="other").exit_code == 0
    told = replace(episode(), candidate_facts=(CandidateFact(text=KEY), CandidateFact(text=TEA)))
    container.bus.apply(Effects(writes=(SaveEpisode(episode=told),)))
    forget(nous, "--fact", id_of(container, TEA))

    assert known(container) == {KEY: {"hand", "other"}}
    kept = container.context.episodes.get(HOME, told.id)
    assert kept
    assert [each.text for each in kept.candidate_facts] == [KEY]


def test_what_is_current_again_is_told_before_and_after(nous: Nous, container: Container) -> None:
    tell(nous, KEY, session="old")
    tell(nous, TEA, session="new")
    older, newer = id_of(container, KEY), id_of(container, TEA)
    row = Superseded(fact_id=UUID(older), by=UUID(newer), reason="it was moved", at=container.context.clock())
    version = container.context.facts.read(HOME).version
    container.bus.apply(Effects(writes=(AppendFacts(scope=HOME, expected=version, rows=(row,)),)))
    assert known(container) == {TEA: {"new"}}

    rehearsed, receipt = (
        nous("forget", "--session", "new", "--scope", "home", "--dry-run", *more) for more in ((), ("--json",))
    )
    done = forget(nous, "--session", "new")

    told = f"1 older fact becomes current again:\n  {older}  {KEY}"
    assert told in rehearsed.stdout
    assert told in done.stdout
    assert json.loads(receipt.stdout)["revived"] == [older]
    assert known(container) == {KEY: {"old"}}
