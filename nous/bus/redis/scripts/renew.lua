-- Extend the leases of deliveries that are still pending; a lease never becomes shorter.
--
-- KEYS  1 leases
-- ARGV  1 lease in seconds  2.. names
local ends = clock() + tonumber(ARGV[1])
for i = 2, #ARGV - 1 do
  redis.call('ZADD', KEYS[1], 'XX', 'GT', ends, ARGV[i])
end
