-- The pending deliveries whose lease has ended, with their progress: {name, progress, name, progress, ...}.
--
-- KEYS  1 leases  2 progress
-- ARGV  1 limit
local found = {}
local names = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', clock(), 'LIMIT', 0, ARGV[1])
for _, name in ipairs(names) do
  found[#found + 1] = name
  found[#found + 1] = redis.call('HGET', KEYS[2], name) or ''
end
return found
