-- Put a fact log that was written anew in the place of the one it was made from, if nobody has appended to that since.
-- Sent twice, it finds what it has done.
--
-- KEYS  1 head  2 rows  3 rows aside  then pairs {block aside, block}, then every block of the old log
-- ARGV  1 the old version  2 the new one  3 number of pairs
-- Returns 1, or 0 when the log has changed.
local head = redis.call('GET', KEYS[1]) or ''
if head == ARGV[2] then
  return 1
end
if head ~= ARGV[1] then
  return 0
end
local pairs_end = 3 + 2 * tonumber(ARGV[3])

local function take_place(aside, key)
  if redis.call('EXISTS', aside) == 1 then
    redis.call('RENAME', aside, key)
    redis.call('PERSIST', key)
  end
end

redis.call('DEL', KEYS[2])
for i = pairs_end + 1, #KEYS do
  redis.call('DEL', KEYS[i])
end
take_place(KEYS[3], KEYS[2])
for i = 4, pairs_end, 2 do
  take_place(KEYS[i], KEYS[i + 1])
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
