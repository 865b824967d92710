"""What a store keeps beside an episode: earlier editions, what it was made from, who has tried, what was decided."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

from builders.episodes import HOME, NOON, WORK, episode
from builders.stores import KEEPER, WholeStore

from nous.bus.base import Priority
from nous.domain.effects import Effects, RecordResummaryAttempt, RemoveFromResummaries, SaveDecision, SaveEpisode
from nous.domain.episode import NAMESPACE, Decision, Tier, episode_id
from nous.domain.events import DecisionRecorded
from nous.domain.scope import Scope
from nous.domain.summary_input import Segment, SummaryInput

BRIEF = SummaryInput(
    windows=((Segment("[... 2 turns omitted ...]"), Segment("[User] Größe? 🌍", "User", 3)),),
    decisions=(Decision(description="Use Postgres", category="tool", stakes="high", confidence=0.8, at=NOON),),
)


def kept(text: str, *, scope: Scope = HOME, session: str = "s1", **fields: Any) -> SaveDecision:
    return SaveDecision(
        scope=scope,
        episode_id=episode_id(scope, session),
        event_id=uuid5(NAMESPACE, text),
        decision=Decision(description=text, **fields),
    )


def recorded(text: str, *, scope: Scope = HOME, session: str = "s1") -> DecisionRecorded:
    event_id = uuid5(NAMESPACE, text)
    return DecisionRecorded(
        id=event_id,
        time=NOON,
        source="tests",
        scope=scope,
        agent_id="a",
        session_id=session,
        trace_id=event_id,
        description=text,
    )


def unrefined(store: WholeStore, by: str) -> set[tuple[Scope, UUID]]:
    return set(store.unrefined(but=(by,)))


def said(store: WholeStore, *, scope: Scope = HOME, session: str = "s1") -> list[str]:
    found = store.get_episode_decisions(episode_id(scope, session), scope=scope)
    return [decision.description for decision in found]


def test_editions_that_were_replaced_stay_reachable_the_newest_first(store: WholeStore) -> None:
    first = episode()
    second = replace(first, edition=2, tier=Tier.LLM, model="openai:m", prompt_version="episode-1")
    third = replace(first, edition=3, version="v2")
    store.write(SaveEpisode(episode=first))
    store.write(SaveEpisode(episode=second, replaces=first))
    store.write(SaveEpisode(episode=third, replaces=second))

    assert list(store.editions(HOME, first.id)) == [third, second, first]
    assert store.get(HOME, first.id) == third
    assert list(store.editions(WORK, first.id)) == []


def test_a_brief_is_read_as_it_was_saved(store: WholeStore) -> None:
    store.write(SaveEpisode(episode=episode(), summary_input=BRIEF))

    assert store.summary_input(HOME, episode().id) == BRIEF
    assert store.summary_input(WORK, episode().id) is None


def test_half_a_character_in_a_brief_costs_nothing_but_itself(store: WholeStore) -> None:
    odd = SummaryInput(windows=((Segment("[User] half \ud83d of one", "User", 1),),))

    assert store.write(SaveEpisode(episode=episode(), summary_input=odd))
    found = store.summary_input(HOME, episode().id)
    assert found is not None
    assert "of one" in found.windows[0][0].text


def test_an_extractive_episode_waits_for_a_model_until_one_has_made_it(store: WholeStore) -> None:
    first, other = episode(), episode("s2", scope=Scope("tenant:1", "100%", "日本 語"))
    store.write(SaveEpisode(episode=first, summary_input=BRIEF))
    store.write(SaveEpisode(episode=other, summary_input=BRIEF))
    store.write(SaveEpisode(episode=episode("s3")))  # of which nothing was kept
    assert unrefined(store, "m 1") == {(HOME, first.id), (other.scope, other.id)}

    store.write(SaveEpisode(episode=replace(first, edition=2, tier=Tier.LLM), replaces=first))
    assert unrefined(store, "m 1") == {(other.scope, other.id)}


def test_who_has_tried_an_episode_is_not_offered_it_again_and_another_is(store: WholeStore) -> None:
    store.write(SaveEpisode(episode=episode(), summary_input=BRIEF))
    store.write(RecordResummaryAttempt(scope=HOME, episode_id=episode().id, by="m 1"))

    assert unrefined(store, "m 1") == set()
    assert unrefined(store, "m 2") == {(HOME, episode().id)}


def test_an_episode_that_is_not_to_be_offered_any_more_waits_for_no_model_until_it_is_extractive_anew(
    store: WholeStore,
) -> None:
    first, second = episode(), replace(episode(), edition=2, version="v2")
    store.write(SaveEpisode(episode=first, summary_input=BRIEF))
    stop = RemoveFromResummaries(scope=HOME, episode_id=first.id)

    assert [store.write(stop), store.write(stop), unrefined(store, "m 1")] == [True, True, set()]

    store.write(SaveEpisode(episode=second, replaces=first, summary_input=BRIEF))
    assert unrefined(store, "m 1") == {(HOME, first.id)}


def test_decisions_are_kept_once_each_and_by_session(store: WholeStore) -> None:
    for _ in range(2):
        store.write(kept("second", at=NOON.replace(hour=13)), kept("first", at=NOON))
    store.write(kept("elsewhere", scope=WORK))
    store.write(kept("another session", session="s2"))

    assert said(store) == ["first", "second"]
    assert said(store, scope=WORK) == ["elsewhere"]
    assert said(store, session="s3") == []


def test_a_decision_that_nobody_has_kept_yet_is_seen(store: WholeStore) -> None:
    store.bus.publish(recorded("unread"), recorded("of another session", session="s2"))
    assert said(store) == ["unread"]

    [delivery] = store.bus.receive(KEEPER, priority=Priority.LIVE, limit=1, lease=60)
    store.bus.publish(recorded("later"))
    assert said(store) == ["later", "unread"]

    store.bus.commit(delivery, Effects(writes=(kept("unread", at=NOON),)))
    assert said(store) == ["later", "unread"]
