-- Return the pending deliveries with an expired lease, and their progress.
--
-- KEYS  1 leases  2 progress
-- ARGV  1 limit
-- Returns {{name, progress or false}, ...}, the longest expired first.
local found = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', clock(), 'LIMIT', 0, ARGV[1])) do
  found[#found + 1] = { name, redis.call('HGET', KEYS[2], name) }
end
return found
