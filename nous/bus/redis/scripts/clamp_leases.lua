-- Shorten leases that end later than a lease can last. Such a lease was set by a clock that has been set back since.
-- Deliveries that wait for a retry are left alone: they may be due far in the future.
--
-- KEYS  1 leases  2 progress
-- ARGV  1 length of a lease in seconds
-- Returns the number of leases that were shortened.
local AT_ONCE = 1000
local ends = clock() + tonumber(ARGV[1])
local late = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.6f', ends + 1), '+inf', 'LIMIT', 0, AT_ONCE)
local clamped = 0
for _, name in ipairs(late) do
  local progress = redis.call('HGET', KEYS[2], name)
  if progress and not progress:find('"state":"waiting"', 1, true) then
    redis.call('ZADD', KEYS[1], 'XX', ends, name)
    clamped = clamped + 1
  end
end
return clamped
