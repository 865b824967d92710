-- Give pending entries that have no lease an expired one, so that the next sweep retries them. Another program received
-- them without `receive`, or their lease or progress was deleted. If one of the two is left, they were counted as
-- received before.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters
-- ARGV  1 group  2 where to begin, as XPENDING takes it  3 priority  4 first progress
-- Returns {where to begin in the next call, number of entries claimed}.
local AT_ONCE = 100
demand('HSETNX', KEYS[3], '', '')
demand('ZADD', KEYS[2], 0, '')
demand('HINCRBY', KEYS[4], '', 1)
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], '+', AT_ONCE)
local claimed = 0
for _, each in ipairs(pending) do
  local name = ARGV[3] .. '/' .. each[1]
  local has_progress = redis.call('HSETNX', KEYS[3], name, ARGV[4]) == 0
  local has_lease = redis.call('ZADD', KEYS[2], 'NX', clock(), name) == 0
  if not has_lease and not has_progress then
    redis.pcall('HINCRBY', KEYS[4], 'received', 1)
    claimed = claimed + 1
  end
end
return { #pending < AT_ONCE and '-' or '(' .. pending[#pending][1], claimed }
