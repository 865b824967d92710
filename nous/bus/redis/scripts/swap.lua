-- Put a fact log that was written anew in the place of the one it was made from, if nobody has appended to that since.
-- Sent twice, it finds what it has done.
--
-- KEYS  1 head  then pairs {key aside, whose place it takes}, then every key of the old log
-- ARGV  1 the old version  2 the new one  3 number of pairs
-- Returns 1, or 0 when the log has changed, or what is aside has expired.
local head = redis.call('GET', KEYS[1]) or ''
if head == ARGV[2] then
  return 1
end
if head ~= ARGV[1] then
  return 0
end
local pairs_end = 1 + 2 * tonumber(ARGV[3])
for i = 2, pairs_end, 2 do
  if redis.call('EXISTS', KEYS[i]) == 0 then
    return 0
  end
end

for i = pairs_end + 1, #KEYS do
  redis.call('DEL', KEYS[i])
end
for i = 2, pairs_end, 2 do
  redis.call('RENAME', KEYS[i], KEYS[i + 1])
  redis.call('PERSIST', KEYS[i + 1])
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
