"""Forgetting on a real server, with every worker: nothing of a session is left under any key, and nothing else is lost.

Texts are planted wherever a session leaves traces; then every byte that the server holds is looked at.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous, on_terminal
from builders.keyspace import keys_with
from builders.questions import question
from builders.town import ELSEWHERE, HERE, OTHER, SAID_BY_OTHER, SECRET, SHARED, Town, told

from nous.app.services import eraser
from nous.bus.erasure import WasForgotten, said
from nous.domain.episode import Tokens, episode_id
from nous.domain.errors import NotFound
from nous.domain.scope import CacheSubject, Scope
from nous.llm.base import Reply
from nous.pipeline.fact_learner import RULINGS
from nous.services.erasure import EraseSession, ErasureReceipt

PLANTED = (
    *("plantedwords", "planteddecision", "plantedanswer", "plantedtitle", "plantedsubject", "plantedpath"),
    *("plantedscribble", "plantedcompacting", "plantedupload", "plantedlater"),
)
"""Every one of these is said by the secret session alone."""


def live(town: Town, folder: Path) -> None:
    """Two sessions that say one thing in two ways; each leaves every trace that a session can leave."""
    town.publish(SECRET, "plantedwords")
    town.decide(SECRET, "planteddecision: we use tabs")
    town.publish(SECRET, "plantedcompacting", compacting=True)
    town.lose(SECRET, folder / "plantedpath.txt")
    town.scribble(SECRET, "plantedscribble")
    town.settle()
    town.publish(OTHER, "otherwords")
    town.decide(OTHER, "otherdecision: we use spaces")
    town.publish(OTHER, "othercompacting", compacting=True)
    town.lose(OTHER, folder / "otherpath.txt")
    town.scribble(OTHER, "otherscribble")
    town.publish(SECRET, "elsewords", scope=ELSEWHERE)
    town.settle()


def leave_waiting(town: Town) -> None:
    """What nobody has dealt with: an upload, and what no worker has read yet."""
    town.publish(SECRET, "plantedlater")
    town.publish(SECRET, "plantedupload " * 1000)
    town.publish(OTHER, "otherupload " * 1000)


def forget(town: Town, session: str = SECRET) -> ErasureReceipt:
    return eraser(town.container).erase(EraseSession(scope=HERE, name=session))


def kept_of(town: Town, session: str, scope: Scope) -> tuple[object, ...]:
    """All that is kept of a session, except by the log of facts."""
    context, episode = town.container.context, episode_id(scope, session)
    told = {entry: raw for entry, raw in entries(town) if (about := said(raw, "")) and about[1:3] == (scope, session)}
    events = [str(about.event_id) for raw in told.values() if (about := said(raw, ""))]
    return (
        context.episodes.editions(scope, episode),
        context.episodes.summary_input(scope, episode),
        context.decisions.get_episode_decisions(episode, scope=scope),
        context.anchored_summaries.anchored_summary(scope, agent_id="default", session_id=session),
        [letter for letter in town.container.dead_letters.letters() if (letter.kind, letter.entry) in told],
        told,
        sorted(job for job in town.client.scan_iter("rq:job:*") if any(event in job.decode() for event in events)),
    )


def entries(town: Town) -> Iterator[tuple[tuple[str, str], bytes]]:
    """What every stream tells, but for what was made of facts: that may quote another session."""
    for stream in sorted(town.client.scan_iter("nous:events:*")):
        kind = stream.decode().rpartition(":")[2]
        if not kind.startswith("fact_"):
            yield from (((kind, entry.decode()), fields[b"event"]) for entry, fields in town.client.xrange(stream))


def facts_of(town: Town, scope: Scope = HERE) -> dict[str, set[str]]:
    """Every current fact, and the sessions that have said it."""
    context = town.container.context
    with context.fact_cache.current(context.facts, scope, context.embedder) as knowledge:
        return {known.fact.text: {source.session_id for source in known.sources} for known in knowledge.current()}


def test_nothing_of_a_forgotten_session_is_left_under_any_key(town: Town, tmp_path: Path, wait_until: Any) -> None:
    live(town, tmp_path)
    leave_waiting(town)
    assert {text for held in keys_with(town.client, *PLANTED).values() for text in held} == set(PLANTED)

    receipt = forget(town)

    print(receipt.removed)
    assert keys_with(town.client, *PLANTED) == {}
    assert town.balances() == {0}
    wait_until(lambda: not on_disk(town), "the server to write its file anew")


def on_disk(town: Town) -> set[str]:
    """The planted texts that are left in the server's files."""
    files = [path.read_bytes() for path in town.settings.data_dir.rglob("*") if path.is_file()]
    return {text for text in PLANTED if any(text.encode() in content for content in files)}


def test_of_other_sessions_nothing_is_lost(town: Town, tmp_path: Path) -> None:
    live(town, tmp_path)
    others = ((OTHER, HERE), (SECRET, ELSEWHERE))
    before = [kept_of(town, *each) for each in others]
    facts, elsewhere = facts_of(town), facts_of(town, ELSEWHERE)
    assert facts[SHARED] == {SECRET, OTHER}

    forget(town)

    assert [kept_of(town, *each) for each in others] == before
    assert facts_of(town, ELSEWHERE) == elsewhere
    assert facts_of(town) == {text: {OTHER} for text in facts if "planted" not in text and text != SHARED} | {
        SAID_BY_OTHER: {OTHER}
    }


def test_publishing_it_again_is_refused_without_effect_until_it_is_asked_for(town: Town, tmp_path: Path) -> None:
    live(town, tmp_path)
    forget(town)
    keys = set(town.client.scan_iter("*"))

    for text in ("plantedwords", "plantedlater", "plantedupload " * 1000):
        with pytest.raises(WasForgotten, match=rf"session {SECRET} of scope \S+ was forgotten on .* --again"):
            town.publish(SECRET, text)
    with pytest.raises(WasForgotten):
        town.decide(SECRET, "planteddecision: we use tabs")
    assert set(town.client.scan_iter("*")) == keys
    assert keys_with(town.client, *PLANTED) == {}

    town.publish(SECRET, "plantedwords", again=True)
    town.decide(SECRET, "planteddecision: we use tabs")
    town.settle()

    assert town.container.context.episodes.get(HERE, episode_id(HERE, SECRET))
    assert facts_of(town)["The plantedanswer codeword opens the vault."] == {SECRET}
    assert town.balances() == {0}


def test_what_a_foreign_producer_writes_of_it_into_a_stream_is_skipped(town: Town) -> None:
    town.publish(SECRET, "plantedwords")
    forget(town)

    raw = {"data": {"session_id": SECRET, "scope": {"project": HERE.project}, "transcript": told("plantedlater")}}
    town.client.xadd("nous:events:session_ended", {"event": json.dumps(raw)})
    town.settle()

    assert town.container.context.episodes.get(HERE, episode_id(HERE, SECRET)) is None
    account = town.container.delivery_stats.counters(town.container.subscription("episode-summarizer"))
    assert account.skipped == {"its session was forgotten": 1}


def test_forgetting_twice_does_no_harm_and_what_was_never_there_is_not_found(town: Town, tmp_path: Path) -> None:
    live(town, tmp_path)
    first, second = forget(town), forget(town)

    assert first.first_at is None
    assert second.first_at
    assert second.removed == {}
    ruling = question(matter=CacheSubject(HERE, RULINGS))
    town.container.llm_stores.responses.save(ruling, "m", Reply(text="two", model="m", tokens=Tokens()))
    with pytest.raises(NotFound, match="there is no session nobody"):
        forget(town, "nobody")
    with pytest.raises(NotFound):
        eraser(town.container).erase(EraseSession(scope=Scope(project="nowhere"), name=OTHER))


KEY, TEA, LATE = "The garden key lies under the stone", "Tim drinks green tea in the morning", "The shop shuts at nine"


def learned(nous: Nous, *texts: str, session: str = "hand-made", scope: str = "home") -> list[str]:
    """The ids of the facts that *session* teaches."""
    lines = "\n".join(map(json.dumps, texts))
    told = nous("facts", "learn", "--scope", scope, "--session", session, "--json", stdin=lines)
    return [json.loads(line)["fact_id"] for line in told.stdout.splitlines()]


def facts(nous: Nous) -> list[str]:
    return [each["text"] for each in json.loads(nous("facts", "--scope", "home", "--json").stdout)]


def test_a_fact_that_would_be_forgotten_is_shown_by_its_text(nous: Nous) -> None:
    known, _ = learned(nous, KEY, TEA)

    unasked = nous("forget", "--fact", known, "--scope", "home")
    rehearsed = nous("forget", "--fact", known[:8], "--scope", "home", "--dry-run")

    for shown in (unasked.stderr, rehearsed.stdout):
        assert f"1 fact:\n  {KEY}\n" in shown
        assert TEA not in shown
    assert unasked.stderr.endswith("nous: nothing was forgotten: say --yes; there is no terminal to ask on\n")
    assert facts(nous) == [KEY, TEA]


def test_who_says_no_is_told_that_nothing_was_forgotten(nous: Nous) -> None:
    learned(nous, KEY)

    for answer in ("n\n", "\n"):
        told, code = on_terminal("forget", "--session", "hand-made", "--scope", "home", answer=answer)

        assert KEY in told
        assert told.endswith("nous: nothing was forgotten\n")
        assert code == 6
    assert facts(nous) == [KEY]


def test_who_says_yes_has_forgotten(nous: Nous) -> None:
    learned(nous, KEY)

    told, code = on_terminal("forget", "--session", "hand-made", "--scope", "home", answer="y\n")

    assert "Forget session hand-made of default/default/home for good? [y/N]:" in told
    assert code == 0
    assert facts(nous) == []
