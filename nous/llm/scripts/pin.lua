-- Cache a response, unless one is cached, or the subject was invalidated since the call began. Idempotent: sent twice,
-- it returns its own response.
--
-- KEYS  1 invalidation counts  2 the response
-- ARGV  1 the subject  2 its invalidation count before the call  3 the response  4 TTL in seconds
-- Returns the cached response, or this one.
local known = redis.call('GET', KEYS[2])
if known then
  return known
end
local drops = redis.call('HMGET', KEYS[1], ARGV[1], 'all')
if tonumber(drops[1] or 0) + tonumber(drops[2] or 0) == tonumber(ARGV[2]) then
  redis.call('SET', KEYS[2], ARGV[3], 'EX', ARGV[4])
end
return ARGV[3]
