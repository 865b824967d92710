-- Append an event once. The marker remembers under its id where it went, so that saying it again says nothing. What was
-- forgotten is not appended at all, and neither is what refers to an upload that the server has not: it lost that, or
-- somebody has released it. So an upload stands before its event in the server's log, whatever is cut off its end.
--
-- KEYS  1 stream   2 marker  3 tombstones of its scope  4 upload, if there has to be one
-- ARGV  1 payload  2 lane  3 the marker's life in seconds  4 the name that its tombstone would have
-- Returns {1, "lane/entry"} when it was appended, {0, "lane/entry"} when it stood there already, {-1, tombstone} when it
-- was forgotten, {-2, ""} when its upload is missing.
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
demand('XADD', KEYS[1], '*', '', '')
demand('SET', KEYS[2], '', 'EX', 1)
local place = ARGV[2] .. '/' .. redis.call('XADD', KEYS[1], '*', 'event', ARGV[1])
redis.call('SET', KEYS[2], place, 'EX', ARGV[3])
return { 1, place }
