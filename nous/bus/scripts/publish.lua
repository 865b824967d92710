-- Append an event once. The marker remembers under its id where it went, so that saying it again says nothing. What was
-- forgotten is not appended at all.
--
-- KEYS  1 stream   2 marker  3 tombstones of its scope
-- ARGV  1 payload  2 lane  3 the marker's life in seconds  4 the name that its tombstone would have
-- Returns {1, "lane/entry"} when it was appended, {0, "lane/entry"} when it stood there already, {-1, tombstone} when it
-- was forgotten.
local tombstone = redis.call('HGET', KEYS[3], ARGV[4])
if tombstone then
  return { -1, tombstone }
end
local known = redis.call('GET', KEYS[2])
if known then
  return { 0, known }
end
local place = ARGV[2] .. '/' .. redis.call('XADD', KEYS[1], '*', 'event', ARGV[1])
redis.call('SET', KEYS[2], place, 'EX', ARGV[3])
return { 1, place }
