"""What users of the access list of deploy/acl must not do."""

STREAM = "nous:events:session_ended"

ADMINISTRATION = [
    "CONFIG SET appendonly no", "FLUSHALL", "KEYS *", "SHUTDOWN NOSAVE", "DEBUG SLEEP 0", "ACL SETUSER viewer allkeys",
    "CLIENT LIST", "MONITOR", "SCRIPT FLUSH", "BGREWRITEAOF", "REPLICAOF a 1", "FUNCTION FLUSH", "SLOWLOG GET",
]  # fmt: skip
WRITING = [
    f"XADD {STREAM} * event x", "SET nous:x 1", f"DEL {STREAM}", f"XTRIM {STREAM} MAXLEN 0", "LPUSH rq:queue:x y",
    f"XGROUP CREATE {STREAM} g 0", f"XACK {STREAM} episode-summarizer 1-1", "HSET nous:episodes:a/b/c x y",
    f"XREADGROUP GROUP episode-summarizer c STREAMS {STREAM} >", "EXPIRE nous:x 1", "RENAME nous:x nous:y",
    "PUBLISH rq:pubsub:x y", "RESTORE nous:x 0 y", "COPY nous:x nous:y", "GETDEL nous:x",
]  # fmt: skip
FOREIGN = ["GET other:x", "SET other:x 1", "GET nousy:x", "GET x"]
READING = [
    f"XRANGE {STREAM} - +", f"XREAD STREAMS {STREAM} 0", f"XINFO STREAM {STREAM} FULL", "HGETALL nous:episodes:a/b/c",
    f"XREADGROUP GROUP episode-summarizer c STREAMS {STREAM} >", f"XCLAIM {STREAM} episode-summarizer c 0 1-1",
    "LRANGE nous:facts-rows:a/b/c 0 -1", "XRANGE nous:dead - +", "HGETALL rq:job:x", "LRANGE rq:queue:x 0 -1",
    "GET nous:transcript:a/b/c:s:d", "SET nous:transcript:a/b/c:s:d x GET", "HGETALL nous:forgotten:a/b/c",
    "HVALS nous:decisions:a/b/c:d", "GET nous:answer:a/b/c:d:e", "SCAN 0", "TYPE nous:x", f"DUMP {STREAM}",
    f"COPY {STREAM} nous:marker:x", "SUBSCRIBE rq:pubsub:x", "MULTI", "WATCH nous:x", "GET nous:courses:a/b/c:s",
    "XRANGE nous:events:session_touched - +", "HKEYS nous:watched:a/b/c:d", "ZRANGE nous:open-sessions 0 -1",
]  # fmt: skip
SPOILING = [
    f"DEL {STREAM}", f"XDEL {STREAM} 1-1", f"XTRIM {STREAM} MAXLEN 0", f"SET {STREAM} x", "DEL nous:marker:x",
    f"XGROUP DESTROY {STREAM} episode-summarizer", f"XGROUP SETID {STREAM} episode-summarizer $",
    f"XGROUP DELCONSUMER {STREAM} episode-summarizer nous", f"XACK {STREAM} episode-summarizer 1-1",
    "XADD nous:events:episode_summarized * event x", "XADD nous:dead * event x", "SET nous:facts-head:a/b/c x",
    "HSET nous:forgotten:a/b/c x y", "HDEL nous:forgotten:a/b/c x", "LPUSH rq:queue:x y", "HSET rq:job:x data y",
    "DEL nous:transcript:a", f"RENAME {STREAM} nous:marker:x", f"EXPIRE {STREAM} 1", "UNLINK nous:marker:x",
    "PUBLISH rq:pubsub:x y", "FCALL f 0", "XGROUP CREATE nous:bulk:session_touched g 0", "DEL nous:watched:a/b/c:d",
    "SET nous:watched:a/b/c:d x", "EXPIRE nous:transcript:a 0", "PERSIST nous:watched:a/b/c:d",
]  # fmt: skip
IN_SCRIPTS = [
    ("return redis.call('XRANGE', KEYS[1], '-', '+')", STREAM),
    ("return redis.call('DEL', KEYS[1])", STREAM),
    ("return redis.call('GET', 'nous:facts-head:a/b/c')", STREAM),
    ("return redis.call('HGETALL', KEYS[1])", "nous:forgotten:a/b/c"),
    ("return redis.call('GET', KEYS[1])", "nous:transcript:a/b/c:s:d"),
    ("return redis.call('FLUSHALL')", STREAM),
    ("return redis.call('HSET', 'nous:forgotten:a/b/c', 'x', 'y')", "nous:watched:a/b/c:d"),
]
MUST_NOT = {
    "producer": [*ADMINISTRATION, *READING, *SPOILING, *FOREIGN],
    "worker": [*ADMINISTRATION, *FOREIGN, "SCAN 0", "PUBLISH other x", "SUBSCRIBE other", "FCALL f 0"],
    "viewer": [*ADMINISTRATION, *WRITING, *FOREIGN, "EVALSHA x 0", "SCRIPT LOAD x"],
}
