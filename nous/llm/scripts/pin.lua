-- Keep an answer, unless there is one, or it was asked for before answers were dropped. Sent twice, it finds its own.
--
-- KEYS  1 drops  2 the answer  3 the one to the question before it, if there was one
-- ARGV  1 drops that were known when it was asked for  2 the answer  3 seconds to keep it
-- Returns the answer that is kept, or this one.
local known = redis.call('GET', KEYS[2])
if known then
  return known
end
local is_dropped = (redis.call('GET', KEYS[1]) or '0') ~= ARGV[1]
if not is_dropped and (not KEYS[3] or redis.call('EXISTS', KEYS[3]) == 1) then
  redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
end
return ARGV[2]
