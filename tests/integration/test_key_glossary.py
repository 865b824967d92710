"""What is on a server after work came to rest is what the glossaries say, and nothing else."""

from pathlib import Path
from typing import Any

from builders import glossary
from builders.glossary import Row
from builders.town import HERE, OTHER, SECRET, Town

from nous.bus.redis import keys as bus_keys
from nous.jobs import rq as rq_keys
from nous.llm import state as llm_keys
from nous.services.session_intake import SessionMetadata
from nous.store import keys as store_keys

LIVES = {"marker_ttl": 7 * 86400.0, "answer_ttl": 7 * 86400.0, "job_ttl": 7 * 86400.0}
ROWS = tuple(row for each in (bus_keys, store_keys, llm_keys, rq_keys) for row in glossary.rows_of(each, LIVES))

AT_WORK = {
    *("<p>:leases:<group>", "<p>:progress:<group>", "<p>:progress:<group>:<delivery>"),
    *("rq:queue:<queue>", "rq:queue:<queue>:intermediate"),
    *("rq:wip:<queue>", "rq:workers", "rq:workers:<queue>", "rq:execution:<job>:<execution>", "rq:executions:<job>"),
    *("rq:worker:<worker>:executions", "<p>:transcript:<scope>:<session>:<digest>"),
}
"""Keys that are there while something is done, and not at rest."""

RARE = {
    "<p>:forgotten:<scope>": "somebody has forgotten something",
    "<p>:episode-editions:<scope>": "a session was resumed after it had ended",
    "<p>:closing-sessions": "a session was ended since it was idle, and nobody has dealt with its end yet",
    "<p>:unrefined": "a model could not be asked",
}
"""Keys that are there when what they are for has happened."""


def test_at_rest_every_key_is_in_a_glossary_with_its_type_and_life(town: Town, tmp_path: Path) -> None:
    for number in range(5):
        town.publish(f"{OTHER}-{number}", "The canteen opens at noon. " * 40 * number)  # the larger ones are uploaded
    town.publish(SECRET, "plantedwords")
    town.decide(OTHER, "Billing stays on Postgres, with password=hunter22")
    town.publish("compacting", "Billing moves.", compacting=True)
    town.lose("lost", tmp_path / "lost.txt")
    town.scribble("scribbled", "not a number")
    town.producer.touch("touched", SessionMetadata(scope=HERE))
    town.settle()

    found = {key.decode(): seen(town.client, key) for key in town.client.scan_iter("*", count=1000)}
    met = {key: fitting(key, *what) for key, what in found.items()}

    assert {key: found[key] for key, rows in met.items() if not rows} == {}
    names = {row.name for rows in met.values() for row in rows}
    assert names & AT_WORK == set()
    assert names >= {row.name for row in ROWS if None in row.lives} - AT_WORK - RARE.keys()


def seen(client: Any, key: bytes) -> tuple[str, float]:
    return client.type(key).decode(), client.ttl(key)


def fitting(key: str, type_: str, ttl: float) -> list[Row]:
    """The rows that say what there is: a key of that name and type, that lives so long or is kept."""
    return [row for row in ROWS if row.says(key) and row.type == type_ and row.lets_live(ttl)]
