"""What a store of uploaded transcripts promises, asked of each: in memory, on fakeredis, and on a real server."""

from dataclasses import dataclass
from functools import partial

import fakeredis
import pytest
import redis

from nous.bus.base import Bus, Committed
from nous.bus.memory import MemoryBus
from nous.bus.redis import RedisBus
from nous.effects import Effects, ReleaseTranscript
from nous.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
from nous.store.plans import plan_for
from nous.store.redis_uploads import RedisUploads
from nous.store.uploads import Uploads, key_of, unpacked, upload

KEYS = StoreKeys("t")


@dataclass(frozen=True)
class World:
    """Uploads, and the bus that releases them."""

    uploads: Uploads
    bus: Bus

    def upload(self, content: bytes, *, session_id: str = "s") -> str:
        return upload(self.uploads, content, keys=KEYS, scope=Scope(), session_id=session_id)

    def key(self, dataref: str) -> str:
        key = key_of(dataref, within=KEYS.transcripts)
        assert key is not None
        return key

    def release(self, dataref: str) -> bool:
        return isinstance(self.bus.apply(Effects(writes=(ReleaseTranscript(dataref=dataref),))), Committed)


def in_memory() -> World:
    store = MemoryStore(KEYS)
    return World(store, MemoryBus(store.apply))


def on_redis(client: redis.Redis) -> World:
    return World(RedisUploads(client), RedisBus(client, plan_of=partial(plan_for, keys=KEYS)))


@pytest.fixture(params=["memory", "fakeredis", "server"])
def world(request: pytest.FixtureRequest) -> World:
    match request.param:
        case "memory":
            return in_memory()
        case "fakeredis":
            return on_redis(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2))
        case _:
            return on_redis(request.getfixturevalue("redis_client"))


def test_an_upload_waits_packed_until_a_commit_releases_it(world: World) -> None:
    content = b"User: hi\n" * 1000
    dataref = world.upload(content)
    packed = world.uploads.fetch(world.key(dataref))

    assert packed is not None
    assert unpacked(packed) == content
    assert len(packed) < len(content) / 10
    assert world.release(dataref)
    assert world.uploads.fetch(world.key(dataref)) is None


def test_releasing_twice_does_no_harm(world: World) -> None:
    dataref = world.upload(b"User: hi")

    assert [world.release(dataref), world.release(dataref)] == [True, True]


def test_only_uploaded_transcripts_can_be_released(world: World) -> None:
    world.uploads.put(KEYS.scopes, b"not a transcript")

    assert world.release(f"redis:{KEYS.scopes}")
    assert world.release("file:///etc/hostname")
    assert world.uploads.fetch(KEYS.scopes) == b"not a transcript"


def test_the_same_content_of_a_session_has_one_name(world: World) -> None:
    names = {world.upload(b"a"), world.upload(b"a"), world.upload(b"b"), world.upload(b"a", session_id="s:2")}

    assert len(names) == 3
