"""Made-up secrets, by every way in and at every place of a session: afterwards they are nowhere."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from builders.answers import answer
from builders.keyspace import keys_with
from builders.model_server import ModelServer, Request
from builders.secrets import parts_of, secrets
from builders.town import HERE, INLINE, Town
from structlog.testing import capture_logs

from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.episode import Decision
from nous.services.memory import context_notes, known_facts
from nous.services.session_intake import SessionMetadata

COUNT = 240
WAYS = ("file", "inline", "upload", "foreign")
PLACES = ("prompt", "tool input", "tool output", "error", "decision")
BEYOND_A_LINE = {"kubernetes-secret-base64", "powershell-secure-string", "terraform-variable"}
"""Kinds that no rule finds, see tests/unit/redaction/test_rules.py."""


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
        group, place = divmod(number, len(PLACES))
        yield Planted(
            kind, carrier, secret, WAYS[group % len(WAYS)], PLACES[place], f"{WAYS[group % len(WAYS)]}-{group}"
        )


def messages(told: Sequence[Planted], *, filler: str = "") -> list[dict[str, Any]]:
    by_place = {each.place: each.carrier for each in told}
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
    facts = [
        {
            "text": line[:900],
            "category": "technical",
            "subject": line[:60],
            "confidence": 0.9,
            "turns": [1],
            "event_date": None,
        }
        for line in lines[:40]
    ]
    told = " ".join(lines)[:6000]
    return answer(title=told[:150], summary=told, key_points=lines[:10], open_threads=lines[:5], candidate_facts=facts)


def submit(town: Town, way: str, session: str, told: Sequence[Planted], folder: Path) -> None:
    decision = next(each.carrier for each in told if each.place == "decision")
    about = SessionMetadata(scope=HERE, session_id=session)
    if way == "foreign":
        data = {
            "session_id": session,
            "scope": {"project": HERE.project},
            "transcript": messages(told),
            "decisions": [{"description": f"Decided: {decision}"}],
        }
        raw = orjson.dumps({"data": data})
        town.client.xadd(BusKeys().stream("session_ended", Priority.LIVE), {"event": raw})
        return
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
