"""Redacting what is stored already: no secret stays, ids and provenance do, and no other scope is touched.

Secrets are planted as an older release stored them; then every byte that the server holds is looked at.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.answers import answer, stated
from builders.command_line import Nous, on_terminal
from builders.crew import working
from builders.episodes import HOME, NOON, WORK, episode
from builders.fact_rows import learned, said, source
from builders.keyspace import keys_with
from builders.model_server import ModelServer, Request
from builders.questions import question
from builders.secrets import parts_of, secrets
from builders.town import HERE, INLINE, Town
from structlog.testing import capture_logs

from nous.app.container import Container, build
from nous.app.services import embed_missing, erasable_stores, producer_of, stored_redactor
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.anchored_summary import AnchoredSummary, StoredAnchoredSummary
from nous.domain.effects import AppendFacts, Effects, SaveAnchoredSummary, SaveDecision, SaveEpisode, SaveEpisodeVector
from nous.domain.episode import CandidateFact, Decision, Episode, Tier, Tokens
from nous.domain.fact import Confirmed, Linked, Superseded, embedding
from nous.domain.scope import CacheSubject, Scope
from nous.domain.summary_input import Segment, SummaryInput
from nous.llm.base import Reply
from nous.services.memory import context_notes, known_facts
from nous.services.session_intake import SessionMetadata
from nous.settings.model import RedactSettings, Settings
from nous.store.base import NO_VECTORS
from nous.store.redis.erasure import RedisErasure

TOKEN = "ghp_Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3h2"  # noqa: S105 (made up)
PASSWORD = "tr0ub4dor-und-3"  # noqa: S105
"""No rule finds it where it stands alone: its context is in the summary input."""
PRIVATE = "sister in Lisbon"
NOT_REWRITTEN = {"nous:events:session_ended", "nous:transcript"}
CLEAN = "Billing listens on port 9017."
YES = ("redact", "--scope", "home", "--yes")


@pytest.fixture
def careless(directory: Path) -> Iterator[Container]:
    """A process that stores what it is given."""
    found = build(Settings(data_dir=directory, embedder="hashed", redact=RedactSettings(enabled=False)))
    yield found
    found.close()


def told(text: str) -> str:
    return f"{text} {TOKEN} and {PASSWORD} <private>my {PRIVATE}</private> end"


def leaky(scope: Scope, **more: Any) -> Episode:
    found = episode(scope=scope, cwd=f"/home/{PASSWORD}/shop", **more)
    summary = replace(found.summary, title=f"Used {PASSWORD}", key_points=(told("a point"),), topics=(TOKEN,))
    facts = (CandidateFact(text=told("a candidate"), subject=TOKEN),)
    return replace(found, summary=summary, candidate_facts=facts, decisions=(Decision(description=told("one")),))


def plant(careless: Container, scope: Scope) -> None:
    """Store secrets in every kind of record of *scope*."""
    first, second = leaky(scope), leaky(scope, version="v2", edition=2)
    given = SummaryInput(windows=((Segment(f"password={PASSWORD}"),),))
    save(careless, SaveEpisode(episode=first, summary_input=given))
    save(careless, SaveEpisode(episode=second, replaces=first))
    save(careless, SaveDecision(scope=scope, episode_id=first.id, event_id=first.event_id, decision=first.decisions[0]))
    summary, event = AnchoredSummary.of({"intent": told("to")}), first.event_id
    about: Any = {"scope": scope, "agent_id": "agent", "session_id": "s1", "digest": "", "entries": 1, "bytes": 1}
    anchor = StoredAnchoredSummary(**about, summary=summary, event_id=event, at=NOON, tier=Tier.LLM)
    save(careless, SaveAnchoredSummary(anchor=anchor))
    save(careless, facts_of(careless, scope), vector_of(careless, second))
    reply = Reply(text=told("an answer"), model="m", tokens=Tokens())
    careless.llm_stores.responses.save(question(matter=CacheSubject(scope, first.id)), "m", reply)
    for session, words in (("inline", 1), ("uploaded", 10_000)):
        about = SessionMetadata(scope=scope, session_id=session)
        list(producer_of(careless).publish(f"User: {told('word ' * words)}\n\nAssistant: Yes.", about))


def save(careless: Container, *writes: Any) -> None:
    careless.bus.apply(Effects(writes=writes))


def vector_of(careless: Container, episode: Episode) -> SaveEpisodeVector:
    embedder = careless.memory.embedder
    [vector] = embedder.embed([TOKEN])
    return SaveEpisodeVector(
        scope=episode.scope, episode_id=episode.id, of=episode.state, embedder=embedder.id, vector=vector
    )


def facts_of(careless: Container, scope: Scope) -> AppendFacts:
    embedder = careless.memory.embedder
    made = [said("s1", told("we use")), said("s1", told("we used")), learned(CLEAN)]
    fact, old, clean = (
        replace(each, fact=replace(each.fact, scope=scope, subject=TOKEN), reason=TOKEN, embedded_by=embedder.id)
        for each in made
    )
    rows = (
        *(fact, old, clean),
        Confirmed(fact_id=fact.fact.id, source=source("s2"), text=told("they use"), reason=told("why"), at=NOON),
        Superseded(fact_id=old.fact.id, by=fact.fact.id, reason=told("later"), at=NOON),
        Linked(fact_id=fact.fact.id, other=clean.fact.id, reason=told("near"), at=NOON),
    )
    vectors = zip((each.fact.id for each in made), embedder.embed([each.fact.text for each in made]), strict=True)
    head = careless.memory.facts.read(scope, embedder=NO_VECTORS).version
    return AppendFacts(scope=scope, expected=head, rows=rows, vectors=dict(vectors))


def dumped(container: Container, pattern: str = "*") -> dict[bytes, bytes]:
    """The keys like *pattern*, but for streams and what shows that an event was published."""
    client: Any = container.client
    client.config_set("rdbcompression", "no")
    keys = (key for key in client.scan_iter(pattern) if client.type(key) != b"stream" and b":marker:" not in key)
    return {key: client.dump(key) for key in keys}


def left(container: Container) -> set[str]:
    """Return the keys of the redacted scope that hold a secret."""
    found = keys_with(container.client, TOKEN, PASSWORD, PRIVATE)
    return {key.partition(f":{HOME}")[0] for key in found if str(WORK) not in key}


def provenance(container: Container) -> list[Any]:
    """The rows of the log without words and vectors, and the identity of each edition."""
    rows = [asdict(row) for row in container.memory.facts.read(HOME, embedder=NO_VECTORS).rows]
    for each in [*rows, *(row["fact"] for row in rows if "fact" in row)]:
        for words in ("text", "reason", "subject", "embedded_by"):
            each.pop(words, None)
    editions = container.memory.episodes.editions(HOME, episode().id)
    return [*rows, *((each.id, each.state, each.version, each.edition, each.event_id) for each in editions)]


def test_no_secret_stays_but_in_streams_and_uploads_and_provenance_does(
    nous: Nous, container: Container, careless: Container
) -> None:
    plant(careless, HOME)
    plant(careless, WORK)
    kept, elsewhere = provenance(container), dumped(container, f"*{WORK}*")

    receipt = json.loads(nous(*YES, "--json").stdout)

    assert left(container) == NOT_REWRITTEN
    assert (provenance(container), dumped(container, f"*{WORK}*")) == (kept, elsewhere)
    others = ("episodes", "earlier editions", "anchored summaries", "decisions", "summary inputs", "cached answers")
    assert receipt["changed"] == {"log rows": 6, **dict.fromkeys(others, 1)}
    assert receipt["is_off_disk"]
    stored = {rule: count for (where, rule), count in container.redactions.counts().items() if where == "stored"}
    assert receipt["secrets"] == stored
    assert stored["private-part"] == 14


def test_doing_it_again_changes_nothing_and_says_so(nous: Nous, container: Container, careless: Container) -> None:
    plant(careless, HOME)
    assert nous(*YES).stdout.startswith(f"scope {HOME} is redacted\n")
    before = dumped(container)

    assert nous(*YES).stdout.startswith(f"scope {HOME} has nothing to redact\n")
    assert dumped(container) == before


def test_a_dry_run_prints_the_same_receipt_and_changes_nothing(
    nous: Nous, container: Container, careless: Container
) -> None:
    plant(careless, HOME)
    before = dumped(container)

    rehearsed = json.loads(nous("redact", "--scope", "home", "--dry-run", "--json").stdout)

    assert dumped(container) == before
    assert rehearsed == {**json.loads(nous(*YES, "--json").stdout), "is_rehearsal": True}


def test_changed_facts_and_episodes_get_new_vectors_and_are_found(
    nous: Nous, container: Container, careless: Container, wait_until: Any
) -> None:
    plant(careless, HOME)
    nous(*YES)
    rows = container.memory.facts.read(HOME, embedder=NO_VECTORS).rows
    assert [found[0] for row in rows if (found := embedding(row))] == [learned(CLEAN).fact.id]
    assert embed_missing(container, HOME, dry_run=True) == (1, 1)

    with working(container, "fact-embedder", "episode-embedder"):
        wait_until(lambda: embed_missing(container, HOME, dry_run=True) == (0, 0), "all vectors")

    found = json.loads(nous("search", "we use the secret", "--scope", "home", "--json").stdout)
    assert {str(said("s1", told("we use")).fact.id), str(episode().id)} <= {each["id"] for each in found}


@pytest.mark.parametrize("at", [1, 2, 4])
def test_one_that_broke_off_is_completed_by_the_next(container: Container, careless: Container, at: int) -> None:
    plant(careless, HOME)

    class Broken(RedisErasure):
        def rewrite_records(self, scope: Scope, change: Any, *, dry_run: bool = False) -> Iterator[tuple[str, bool]]:
            found = super().rewrite_records(scope, change, dry_run=dry_run)
            yield from found if dry_run else islice(found, at)
            if not dry_run:
                raise KeyboardInterrupt

    redactor = stored_redactor(container)
    broken = replace(redactor.stores, store=Broken(container.client, container.store_keys))
    with pytest.raises(KeyboardInterrupt):
        replace(redactor, stores=broken).redact(HOME)
    stored_redactor(container).redact(HOME)

    assert left(container) == NOT_REWRITTEN


def test_an_episode_that_is_replaced_meanwhile_is_redacted_in_its_new_form(
    container: Container, careless: Container
) -> None:
    first, newer = leaky(HOME), leaky(HOME, version="v2", edition=2)
    save(careless, SaveEpisode(episode=first))
    seen: list[int] = []

    def change(found: Episode) -> Episode:
        seen.append(found.edition)
        if len(seen) == 1:
            save(careless, SaveEpisode(episode=newer, replaces=first))
        return container.redaction.record(found)

    list(erasable_stores(container).store.rewrite_records(HOME, change))

    assert seen == [1, 2, 1]
    assert keys_with(container.client, TOKEN) == {}


def test_it_asks_first_and_refuses_where_redaction_is_off(
    nous: Nous, container: Container, careless: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(careless, HOME)
    before = dumped(container)

    said, code = on_terminal("redact", "--scope", "home", answer="n\n")
    assert (code, "github-pat" in said, TOKEN in said, dumped(container) == before) == (6, True, False, True)
    assert "nothing was redacted: say --yes" in nous("redact", "--scope", "home").stderr
    assert on_terminal("redact", "--scope", "home", answer="y\n")[1] == 0
    assert left(container) == NOT_REWRITTEN
    assert nous("redact", "--scope", "nowhere", "--yes").exit_code == 3
    monkeypatch.setenv("NOUS_REDACT__ENABLED", "false")
    assert "redact.enabled is false" in nous(*YES).stderr


COUNT = 240
WAYS = ("file", "inline", "upload", "foreign")
PLACES = ("prompt", "tool input", "tool output", "error", "decision")
BEYOND_A_LINE = {"kubernetes-secret-base64", "powershell-secure-string", "terraform-variable"}
"""Kinds that no rule finds, see tests/unit/redaction/test_redactor.py."""


@dataclass(frozen=True)
class Planted:
    """A secret in the text that carries it, the session it is in, and its place there."""

    kind: str
    carrier: str
    secret: str
    way: str
    place: str
    session: str

    @property
    def parts(self) -> list[str]:
        return [part for part in parts_of(self.secret) if len(part) >= 8]


def planted() -> Iterator[Planted]:
    known = [each for each in secrets(seed=7, count=COUNT + 30) if each[0] not in BEYOND_A_LINE][:COUNT]
    for number, (kind, carrier, secret) in enumerate(known):
        group, place = divmod(number, 2 * len(PLACES))
        way = WAYS[group % len(WAYS)]
        yield Planted(kind, carrier, secret, way, PLACES[place % len(PLACES)], f"{way}-{group}")


def messages(told: Sequence[Planted], *, filler: str = "") -> list[dict[str, Any]]:
    by_place = {place: "\n".join(each.carrier for each in told if each.place == place) for place in PLACES}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": by_place["tool input"]}}
    shown = {"type": "tool_result", "tool_use_id": "t1", "content": by_place["tool output"]}
    again = {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make deploy"}}
    failed = {"type": "tool_result", "tool_use_id": "t2", "content": f"Error: {by_place['error']}", "is_error": True}
    return [
        {"role": "user", "content": f"Please always deploy like this. {by_place['prompt']}\n{filler}"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [shown]},
        {"role": "assistant", "content": [again]},
        {"role": "user", "content": [failed]},
        {"role": "assistant", "content": f"It failed because of {by_place['error']}, so I stopped."},
        {"role": "user", "content": "Thanks."},
    ]


def obedient(request: Request) -> str:
    """Tell all that was shown, wherever an answer has room for it."""
    lines = [line for line in request.user.splitlines() if line.strip()]
    facts = [stated(line[:900], category="technical", subject=line[:60]) for line in lines[:40]]
    told = " ".join(lines)[:6000]
    return answer(title=told[:150], summary=told, key_points=lines[:10], open_threads=lines[:5], candidate_facts=facts)


def submit(town: Town, way: str, session: str, told: Sequence[Planted], folder: Path) -> None:
    decisions = [f"Decided: {each.carrier}" for each in told if each.place == "decision"]
    about = SessionMetadata(scope=HERE, session_id=session)
    if way == "foreign":
        data = {
            "session_id": session,
            "scope": {"project": HERE.project},
            "transcript": messages(told),
            "decisions": [{"description": decision} for decision in decisions],
        }
        raw = orjson.dumps({"data": data})
        town.client.xadd(BusKeys().stream("session_ended", Priority.LIVE), {"event": raw})
        return
    for decision in decisions:
        town.producer.record(Decision(description=decision), session_id=session, scope=HERE, agent_id="default")
    if way == "file":
        path = folder / f"{session}.json"
        path.write_bytes(orjson.dumps(messages(told)))
        list(town.producer.publish(path, about))
    else:
        filler = "word " * INLINE if way == "upload" else ""
        list(town.producer.publish(messages(told, filler=filler), about))


def test_no_secret_of_a_session_is_stored_sent_or_logged(directory: Path, tmp_path: Path) -> None:
    hidden = list(planted())
    with ModelServer(obedient) as server:
        town = Town(directory, server)
        try:
            with capture_logs() as logs:
                for session in dict.fromkeys(each.session for each in hidden):
                    told = [each for each in hidden if each.session == session]
                    submit(town, told[0].way, session, told, tmp_path)
                town.settle()
            files = "".join(path.read_text("latin-1") for path in directory.rglob("*") if path.is_file())
            found = Counter(_places(town, server, str(logs), files, hidden))
            counts = town.container.redactions.counts()
            facts = known_facts(town.container.memory, HERE)
            notes, _ = context_notes(town.container.memory, "", HERE)
        finally:
            town.stop()

    assert len(hidden) == COUNT
    assert found == {}
    assert len(facts) > COUNT // 2
    assert notes.facts
    assert {where for where, _ in counts} >= {"publish", "read", "event"}


def _places(
    town: Town, server: ModelServer, logs: str, files: str, hidden: Sequence[Planted]
) -> Iterator[tuple[str, str, str]]:
    """Yield the way, place and kind of each secret that is anywhere, and where."""
    by_part = {part: each for each in hidden for part in each.parts}
    own_entries = BusKeys().stream("session_ended", Priority.LIVE)
    bodies = "\n".join(orjson.dumps(request.body).decode() for request in server.requests)
    escaped = {part: orjson.dumps(part)[1:-1].decode() for part in by_part}
    places: dict[str, set[str]] = {
        "log": {part for part in by_part if part in logs},
        "files": {part for part in by_part if part in files or escaped[part] in files},
        "model": {part for part in by_part if part in bodies or escaped[part] in bodies},
        **keys_with(town.client, *by_part, *escaped.values()),
    }
    parts = {**{escaped[part]: each for part, each in by_part.items()}, **by_part}
    for where, met in places.items():
        for each in (parts[part] for part in met):
            is_entry = each.way == "foreign" and where in {own_entries, "files"}
            if not is_entry:  # what others put into the stream is theirs
                yield each.way, each.place, f"{each.kind} in {where}"
