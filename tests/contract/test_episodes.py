"""Promises of a store of episodes, on fakeredis and on a real server."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import redis
from builders.episodes import HOME, NOON, WORK, episode
from builders.events import event_of
from builders.stores import KEEPER, KEYS, WholeStore
from numpy.typing import NDArray

from nous.bus.base import Priority
from nous.domain.effects import (
    AppendFacts,
    Effects,
    ExpectEpisode,
    RecordResummaryAttempt,
    RemoveFromResummaries,
    SaveDecision,
    SaveEpisode,
    SaveEpisodeVector,
)
from nous.domain.episode import NAMESPACE, Decision, Episode, Tier, episode_id
from nous.domain.events import DecisionRecorded
from nous.domain.fact import Linked, LogVersion
from nous.domain.scope import Scope
from nous.domain.summary_input import Segment, SummaryInput


def sessions(episodes: Sequence[Episode]) -> list[str]:
    return [each.session_id for each in episodes]


def linked(scope: Scope) -> AppendFacts:
    """An append to a log without rows."""
    one, other = uuid5(NAMESPACE, "one"), uuid5(NAMESPACE, "other")
    row = Linked(fact_id=one, other=other, reason="number", at=NOON)
    return AppendFacts(scope=scope, expected=LogVersion(), rows=(row,))


def test_episodes_that_ended_together_have_an_order_too(store: WholeStore) -> None:
    together = [episode(f"s{number}") for number in range(5)]
    for each in together:
        store.write(SaveEpisode(episode=each))

    assert list(store.recent(HOME)) == sorted(together, key=lambda each: str(each.id), reverse=True)


def test_an_episode_is_not_overwritten_by_a_handler_that_saw_none(store: WholeStore) -> None:
    assert store.write(SaveEpisode(episode=episode(version="v1")))

    assert not store.write(SaveEpisode(episode=episode(version="v2")))
    found = store.get(HOME, episode().id)
    assert found is not None
    assert found.version == "v1"


def test_a_version_that_is_gone_is_not_replaced_twice(store: WholeStore) -> None:
    store.write(SaveEpisode(episode=episode(version="v1")))
    store.write(SaveEpisode(episode=episode(version="v2"), replaces=episode(version="v1")))

    assert not store.write(SaveEpisode(episode=episode(version="v3"), replaces=episode(version="v1")))


def test_recent_episodes_come_newest_first(store: WholeStore) -> None:
    for hours in (1, 3, 2):
        store.write(SaveEpisode(episode=episode(f"s{hours}", ended_at=NOON + timedelta(hours=hours))))

    assert sessions(store.recent(HOME)) == ["s3", "s2", "s1"]
    assert sessions(store.recent(HOME, limit=2)) == ["s3", "s2"]
    assert sessions(store.recent(HOME, limit=0)) == []


def test_a_session_counts_once_whatever_its_editions(store: WholeStore) -> None:
    for version in ("v1", "v2"):
        store.write(SaveEpisode(episode=episode(version=version)))

    assert (store.count(HOME), store.count(WORK)) == (1, 0)


def test_scopes_are_those_with_an_episode_or_a_fact(store: WholeStore) -> None:
    odd = Scope("tenant:1", "100%", "日本 語")
    assert list(store.scopes()) == []

    store.write(SaveEpisode(episode=episode(scope=odd)))
    store.write(linked(WORK))

    assert list(store.scopes()) == sorted([odd, WORK])


def test_of_writes_that_belong_together_none_is_applied_when_one_is_refused(store: WholeStore) -> None:
    store.write(SaveEpisode(episode=episode()))

    assert not store.write(linked(HOME), SaveEpisode(episode=episode(version="v2")))
    assert store.read(HOME).rows == ()
    assert store.write(linked(HOME))
    assert not store.write(SaveEpisode(episode=episode("s2")), linked(HOME))
    assert store.get(HOME, episode("s2").id) is None


def test_nothing_left_to_do_holds_while_the_edition_is_there_that_was_seen(store: WholeStore) -> None:
    first, second = episode(), episode(version="v2", edition=2)
    seen = ExpectEpisode(scope=HOME, episode_id=first.id, state=first.state)
    assert store.write(replace(seen, state=""))
    assert not store.write(seen)
    store.write(SaveEpisode(episode=first))

    assert store.write(seen)
    assert not store.write(replace(seen, state=""))
    store.write(SaveEpisode(episode=second, replaces=first))
    assert not store.write(seen)


MINI = "a:mini"
VECTOR: NDArray[np.float32] = np.array([0.6, 0.8], dtype=np.float32)


def kept(of: Episode, *, by: str = MINI) -> SaveEpisodeVector:
    return SaveEpisodeVector(scope=of.scope, episode_id=of.id, of=of.state, embedder=by, vector=VECTOR)


def next_edition(of: Episode) -> Episode:
    return replace(of, edition=of.edition + 1)


def test_episodes_wait_for_a_vector_those_that_ended_last_first(store: WholeStore) -> None:
    saved = [episode(f"s{hour}", ended_at=NOON + timedelta(hours=hour)) for hour in (1, 3, 2)]
    for each in saved:
        store.write(SaveEpisode(episode=each))
    first, last, middle = (each.id for each in saved)

    assert list(store.without_vector(HOME, embedder=MINI)) == [last, middle, first]
    assert store.write(kept(saved[2]))
    assert list(store.without_vector(HOME, embedder=MINI)) == [last, first]
    assert list(store.without_vector(WORK, embedder=MINI)) == []


def test_a_new_edition_waits_for_a_vector_and_is_found_by_that_of_the_earlier_one_until_then(store: WholeStore) -> None:
    saved = episode()
    store.write(SaveEpisode(episode=saved))
    store.write(kept(saved))

    store.write(SaveEpisode(episode=next_edition(saved), replaces=saved))

    assert list(store.without_vector(HOME, embedder=MINI)) == [saved.id]
    assert list(store.episode_vectors(HOME, [saved.id], embedder=MINI)) == [saved.id]
    assert store.write(kept(next_edition(saved)))
    assert list(store.without_vector(HOME, embedder=MINI)) == []


def test_a_vector_that_comes_late_does_not_take_the_place_of_one_of_a_newer_edition(store: WholeStore) -> None:
    saved, newer = episode(), next_edition(episode())
    store.write(SaveEpisode(episode=saved))
    store.write(SaveEpisode(episode=newer, replaces=saved))
    store.write(kept(newer))

    assert not store.write(kept(saved))
    assert list(store.without_vector(HOME, embedder=MINI)) == []


def test_a_vector_whose_state_was_not_written_any_more_is_made_again(redis_client: redis.Redis) -> None:
    store, saved = WholeStore(redis_client, prefix="t"), episode()
    store.write(SaveEpisode(episode=saved))
    store.write(SaveEpisode(episode=next_edition(saved), replaces=saved))
    store.write(kept(next_edition(saved)))

    redis_client.hdel(KEYS.episode_vector_states(HOME, MINI), str(saved.id))

    assert list(store.without_vector(HOME, embedder=MINI)) == [saved.id]


BRIEF = SummaryInput(
    windows=((Segment("[... 2 turns omitted ...]"), Segment("[User] Größe? 🌍", "User", 3)),),
    decisions=(Decision(description="Use Postgres", category="tool", stakes="high", confidence=0.8, at=NOON),),
)


def kept_edition(text: str, *, scope: Scope = HOME, session: str = "s1", **fields: Any) -> SaveDecision:
    return SaveDecision(
        scope=scope,
        episode_id=episode_id(scope, session),
        event_id=uuid5(NAMESPACE, text),
        decision=Decision(description=text, **fields),
    )


def recorded(text: str, *, scope: Scope = HOME, session: str = "s1") -> DecisionRecorded:
    return event_of(DecisionRecorded, text, scope=scope, session_id=session, description=text)


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
        store.write(kept_edition("second", at=NOON.replace(hour=13)), kept_edition("first", at=NOON))
    store.write(kept_edition("elsewhere", scope=WORK))
    store.write(kept_edition("another session", session="s2"))

    assert said(store) == ["first", "second"]
    assert said(store, scope=WORK) == ["elsewhere"]
    assert said(store, session="s3") == []


def test_a_decision_that_nobody_has_kept_yet_is_seen(store: WholeStore) -> None:
    store.bus.publish(recorded("unread"), recorded("of another session", session="s2"))
    assert said(store) == ["unread"]

    [delivery] = store.bus.receive(KEEPER, priority=Priority.LIVE, limit=1, lease=60)
    store.bus.publish(recorded("later"))
    assert said(store) == ["later", "unread"]

    store.bus.commit(delivery, Effects(writes=(kept_edition("unread", at=NOON),)))
    assert said(store) == ["later", "unread"]
