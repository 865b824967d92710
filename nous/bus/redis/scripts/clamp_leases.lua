-- Shorten leases that end later than a lease can last. Such a lease was set by a clock that has been set back since.
-- Processes may differ in the length of their leases, so each reports its own, and the longest reported lately is the
-- limit.
--
-- Deliveries that wait for a retry are left alone. They may be due far in the future, and there may be many of them. So
-- each call examines a part of the late leases, and returns where the next call has to continue.
--
-- KEYS  1 leases  2 progress  3 longest lease
-- ARGV  1 length of this process's leases in seconds  2 how many late leases to skip
-- Returns {number of leases that were shortened, number of late leases to skip in the next call}.
local AT_ONCE, REMEMBERED = 1000, 3600
demand('SET', KEYS[3], '')
local longest, skip = tonumber(redis.call('GET', KEYS[3])) or 0, tonumber(ARGV[2])
if longest <= tonumber(ARGV[1]) then
  redis.call('SET', KEYS[3], ARGV[1], 'EX', REMEMBERED)
  longest = tonumber(ARGV[1])
end
local ends = clock() + longest
local late = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.6f', ends + 1), '+inf', 'LIMIT', skip, AT_ONCE)
local pulled = 0
for _, name in ipairs(late) do
  local progress = redis.call('HGET', KEYS[2], name)
  if progress and not progress:find('"state":"waiting"', 1, true) then
    redis.call('ZADD', KEYS[1], 'XX', ends, name)
    pulled = pulled + 1
  end
end
return { pulled, #late < AT_ONCE and 0 or skip + #late - pulled }
