-- Let no lease end later than a lease can: one that does was given by a clock that has been set back since. What waits
-- for its time is left alone; that may be far off.
--
-- KEYS  1 leases  2 progress
-- ARGV  1 lease in seconds
-- Returns how many were pulled in.
local ends = clock() + tonumber(ARGV[1])
local pulled = 0
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.6f', ends + 1), '+inf', 'LIMIT', 0, 1000)) do
  local progress = redis.call('HGET', KEYS[2], name)
  if progress and not progress:find('"state":"waiting"', 1, true) then
    redis.call('ZADD', KEYS[1], 'XX', ends, name)
    pulled = pulled + 1
  end
end
return pulled
