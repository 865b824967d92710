-- Keep an answer, unless there is one, or answers about the same were dropped since. Sent twice, it finds its own.
--
-- KEYS  1 drops  2 the answer
-- ARGV  1 the subject  2 its drops that were known before it was asked about  3 the answer  4 seconds to keep it
-- Returns the answer that is kept, or this one.
local known = redis.call('GET', KEYS[2])
if known then
  return known
end
local drops = redis.call('HMGET', KEYS[1], ARGV[1], 'all')
if tonumber(drops[1] or 0) + tonumber(drops[2] or 0) == tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[3], 'EX', ARGV[4])
end
return ARGV[3]
