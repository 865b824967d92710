"""What users of the access list of deploy/acl must not do."""

STREAM = "nous:events:session_ended"

ADMINISTRATION = [
    "CONFIG SET appendonly no", "FLUSHALL", "KEYS *", "SHUTDOWN NOSAVE", "DEBUG SLEEP 0", "ACL SETUSER viewer allkeys",
    "CLIENT KILL ID 1", "MONITOR", "SCRIPT FLUSH", "REPLICAOF a 1", "SWAPDB 0 1", "FUNCTION FLUSH", "SORT nous:x",
]  # fmt: skip
WRITING = [
    f"XADD {STREAM} * event x", "SET nous:marker:x 1", f"DEL {STREAM}", f"XTRIM {STREAM} MAXLEN 0",
    f"XACK {STREAM} episode-summarizer 1-1", f"XREADGROUP GROUP episode-summarizer c STREAMS {STREAM} >",
    "HSET nous:episodes:a/b/c x y", "LPUSH rq:queue:x y", "RENAME nous:x nous:y", "PUBLISH rq:pubsub:x y",
    "RESTORE nous:x 0 y", f"XSETID {STREAM} 9-9", "COPY nous:x nous:y", "GETDEL nous:x",
]  # fmt: skip
FOREIGN = ["GET other:x", "SET other:x 1", "DEL other:x", "HGETALL other:x", "GET nousy:x", "GET x"]
READING = [
    f"XRANGE {STREAM} - +", f"XREAD STREAMS {STREAM} 0", f"XINFO STREAM {STREAM} FULL", "HGETALL nous:episodes:a/b/c",
    f"XREADGROUP GROUP episode-summarizer c STREAMS {STREAM} >", f"XCLAIM {STREAM} episode-summarizer c 0 1-1",
    "LRANGE nous:facts-rows:a/b/c 0 -1", "XRANGE nous:dead - +", "HGETALL rq:job:x", "GET nous:transcript:a/b/c:s:d",
    "SET nous:transcript:a/b/c:s:d x GET", "HGETALL nous:forgotten:a/b/c", "GET nous:answer:a/b/c:d:e", "SCAN 0",
    f"DUMP {STREAM}", f"COPY {STREAM} nous:marker:x", "SUBSCRIBE rq:pubsub:x", "MULTI", "WATCH nous:x",
    "HGET nous:calibrations x", "XRANGE nous:events:session_touched - +", "HKEYS nous:watched:a/b/c:d",
]  # fmt: skip
SPOILING = [
    f"DEL {STREAM}", f"XDEL {STREAM} 1-1", f"XTRIM {STREAM} MAXLEN 0", f"XGROUP DESTROY {STREAM} episode-summarizer",
    f"XGROUP SETID {STREAM} episode-summarizer $", f"XACK {STREAM} episode-summarizer 1-1", "SET nous:x 1",
    "XADD nous:events:episode_summarized * event x", "XADD nous:dead * event x", "SET nous:facts-head:a/b/c x",
    "HSET nous:forgotten:a/b/c x y", "HDEL nous:forgotten:a/b/c x", "LPUSH rq:queue:x y", "HSET rq:job:x data y",
    "DEL nous:transcript:a", "SET other:x 1", f"RENAME {STREAM} nous:marker:x", "UNLINK nous:marker:x",
    "GETDEL nous:marker:x", "FCALL f 0", "XADD nous:bulk:session_touched * event x", "HSET nous:episodes:a/b/c x y",
    "SET nous:watched:a/b/c:d x", "EXPIRE nous:transcript:a 0", "PERSIST nous:watched:a/b/c:d",
]  # fmt: skip
IN_SCRIPTS = [
    ("return redis.call('XRANGE', KEYS[1], '-', '+')", STREAM),
    ("return redis.call('DEL', KEYS[1])", STREAM),
    ("return redis.call('GET', 'nous:facts-head:a/b/c')", STREAM),
    ("return redis.call('SET', KEYS[1], 'x')", STREAM),
    ("return redis.call('HGETALL', KEYS[1])", "nous:forgotten:a/b/c"),
    ("return redis.call('GET', KEYS[1])", "nous:transcript:a/b/c:s:d"),
    ("return redis.call('EXPIRE', KEYS[1], 0)", "nous:transcript:a/b/c:s:d"),
    ("return redis.call('FLUSHALL')", STREAM),
    ("return redis.call('RPUSH', 'rq:queue:x', 'y')", STREAM),
    ("return redis.call('DEL', KEYS[1])", "nous:watched:a/b/c:d"),
    ("return redis.call('EXISTS', KEYS[1])", "nous:watched:a/b/c:d"),
    ("return redis.call('XRANGE', KEYS[1], '-', '+')", "nous:events:session_touched"),
    ("return redis.call('HSET', 'nous:forgotten:a/b/c', 'x', 'y')", "nous:watched:a/b/c:d"),
]
MUST_NOT = {
    "producer": [*ADMINISTRATION, *READING, *SPOILING, *FOREIGN],
    "worker": [*ADMINISTRATION, *FOREIGN, "SCAN 0", "PUBLISH other x", "SUBSCRIBE other", "FCALL f 0"],
    "viewer": [*ADMINISTRATION, *WRITING, *FOREIGN, "EVALSHA x 0", "SCRIPT LOAD x"],
}
