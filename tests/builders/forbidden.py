"""What users of the access list of deploy/acl must not do."""

STREAM = "nous:events:session_ended"

ADMINISTRATION = [
    "CONFIG GET *", "CONFIG SET appendonly no", "FLUSHALL", "FLUSHDB", "KEYS *", "SHUTDOWN NOSAVE", "DEBUG SLEEP 0",
    "ACL LIST", "ACL SETUSER viewer allkeys", "CLIENT LIST", "CLIENT KILL ID 1", "MONITOR", "SCRIPT FLUSH", "SAVE",
    "BGREWRITEAOF", "REPLICAOF a 1", "SWAPDB 0 1", "MODULE LIST", "FUNCTION FLUSH", "SLOWLOG GET", "SORT nous:x",
]  # fmt: skip
WRITING = [
    f"XADD {STREAM} * event x", f"XADD {STREAM} MAXLEN 0 * event x", "SET nous:x 1", "SET nous:marker:x 1",
    f"DEL {STREAM}", f"XTRIM {STREAM} MAXLEN 0", f"XGROUP CREATE {STREAM} g 0", f"XACK {STREAM} episode-summarizer 1-1",
    f"XREADGROUP GROUP episode-summarizer c STREAMS {STREAM} >", "HSET nous:episodes:a/b/c x y", "LPUSH rq:queue:x y",
    "SADD rq:queues x", "EXPIRE nous:x 1", "RENAME nous:x nous:y", "PUBLISH rq:pubsub:x y", "RESTORE nous:x 0 y",
    f"XSETID {STREAM} 9-9", "COPY nous:x nous:y", "LMOVE rq:queue:x rq:queue:y LEFT LEFT", "GETDEL nous:x",
]  # fmt: skip
FOREIGN = ["GET other:x", "SET other:x 1", "DEL other:x", "HGETALL other:x", "GET nousy:x", "GET x"]
READING = [
    f"XRANGE {STREAM} - +", f"XREVRANGE {STREAM} + -", f"XREAD STREAMS {STREAM} 0", f"XLEN {STREAM}",
    f"XINFO STREAM {STREAM} FULL", f"XPENDING {STREAM} episode-summarizer", "HGETALL nous:episodes:a/b/c",
    f"XREADGROUP GROUP episode-summarizer c STREAMS {STREAM} >", f"XCLAIM {STREAM} episode-summarizer c 0 1-1",
    "LRANGE nous:facts-rows:a/b/c 0 -1", "XRANGE nous:dead - +", "HGETALL rq:job:x", "LRANGE rq:queue:x 0 -1",
    "GET nous:transcript:a/b/c:s:d", "SET nous:transcript:a/b/c:s:d x GET", "GETRANGE nous:transcript:a 0 -1",
    "HGETALL nous:forgotten:a/b/c", "HVALS nous:decisions:a/b/c:d", "GET nous:answer:a/b/c:d:e", "SCAN 0",
    "TYPE nous:x", "EXISTS nous:episodes:a/b/c", f"DUMP {STREAM}", f"OBJECT ENCODING {STREAM}", "SMEMBERS rq:workers",
    f"MEMORY USAGE {STREAM}", f"COPY {STREAM} nous:marker:x", "SUBSCRIBE rq:pubsub:x", "MULTI", "WATCH nous:x",
    f"XAUTOCLAIM {STREAM} episode-summarizer c 0 0", "HGET nous:episodes:a/b/c x", "HGET nous:calibrations x",
    "XRANGE nous:events:session_touched - +", "GET nous:courses:a/b/c:s", "HKEYS nous:watched:a/b/c:d",
    "EXISTS nous:watched:a/b/c:d", "HGETALL nous:account:session-keeper", "ZRANGE nous:open-sessions 0 -1",
]  # fmt: skip
SPOILING = [
    f"DEL {STREAM}", f"XDEL {STREAM} 1-1", f"XTRIM {STREAM} MAXLEN 0", f"SET {STREAM} x", "DEL nous:marker:x",
    f"XGROUP DESTROY {STREAM} episode-summarizer", f"XGROUP SETID {STREAM} episode-summarizer $",
    f"XGROUP DELCONSUMER {STREAM} episode-summarizer nous", f"XACK {STREAM} episode-summarizer 1-1",
    "XADD nous:events:episode_summarized * event x", "XADD nous:dead * event x", "XADD nous:events:fact_learned * e x",
    "SET nous:facts-head:a/b/c x", "HSET nous:forgotten:a/b/c x y", "HDEL nous:forgotten:a/b/c x", "SET nous:x 1",
    "LPUSH rq:queue:x y", "HSET rq:job:x data y", "DEL nous:transcript:a", "XADD other * a b", "SET other:x 1",
    f"RENAME {STREAM} nous:marker:x", f"EXPIRE {STREAM} 1", "UNLINK nous:marker:x", f"XSETID {STREAM} 9-9",
    "PUBLISH rq:pubsub:x y", "GETDEL nous:marker:x", "FCALL f 0", "EVALSHA_RO x 0",
    "XADD nous:bulk:session_touched * event x", "XGROUP CREATE nous:bulk:session_touched g 0", "HDEL nous:episodes:a x",
    "DEL nous:events:session_touched", "XTRIM nous:events:session_touched MAXLEN 0", "DEL nous:watched:a/b/c:d",
    "SET nous:watched:a/b/c:d x", "RENAME nous:watched:a nous:watched:b", "HSET nous:episodes:a/b/c x y",
    "EXPIRE nous:transcript:a 0", "EXPIRE nous:forgotten:a/b/c 1", "PERSIST nous:watched:a/b/c:d",
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
