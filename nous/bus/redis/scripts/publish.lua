-- Append an event, idempotently. The marker is the idempotency key: it stores the entry of the event under the event's
-- id. An event of an erased session is not appended. Nor is one whose upload is missing on the server, which may have
-- lost it, or deleted it on release. So an upload always precedes its event in the AOF, even if the end of that is
-- lost.
--
-- KEYS  1 stream   2 marker  3 tombstones of its scope  4 upload, if there has to be one
-- ARGV  1 payload  2 priority  3 TTL of the marker in seconds  4 the name that its tombstone would have
-- Returns {1, "priority/entry"} if it was appended, {0, "priority/entry"} if it was published before, {-1, tombstone}
-- if it was erased, {-2, ""} if its upload is missing.
local tombstone = redis.call('HGET', KEYS[3], ARGV[4])
if tombstone then
  return { -1, tombstone }
end
local known = redis.call('GET', KEYS[2])
if known then
  return { 0, known }
end
if KEYS[4] and redis.call('EXISTS', KEYS[4]) == 0 then
  return { -2, '' }
end
local place
plan('XADD', KEYS[1], '*', 'event', ARGV[1])
plan('SET', KEYS[2], function(entry)
  place = ARGV[2] .. '/' .. entry
  return place
end, 'EX', ARGV[3])
apply()
return { 1, place }
