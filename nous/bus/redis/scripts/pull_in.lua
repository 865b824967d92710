-- Let no lease end later than a lease can: one that does was given by a clock that has been set back since. Processes may
-- differ in the length of their leases, so each tells its own, and the longest that was told of late is what counts.
--
-- What waits for its time is left alone; that may be far off, and as much as was ever put off. So each call looks at some
-- of those that end so late, and tells where the next one has to go on.
--
-- KEYS  1 leases  2 progress  3 longest lease
-- ARGV  1 how long a lease is here, in seconds  2 how many of those that end so late to pass over
-- Returns {how many were pulled in, how many to pass over the next time}.
local AT_ONCE, REMEMBERED = 1000, 3600
if redis.call('TYPE', KEYS[3]).ok ~= 'string' then
  redis.call('DEL', KEYS[3]) -- not ours; and it is told anew
end
local longest, skip = tonumber(redis.call('GET', KEYS[3])) or 0, tonumber(ARGV[2])
if not (longest > tonumber(ARGV[1])) then -- "nan", which somebody may have written, is neither more nor less
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
