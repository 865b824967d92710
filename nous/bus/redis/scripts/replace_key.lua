-- Replace a field of a hash if its value is as expected (compare and set), and remove that field from other hashes.
--
-- KEYS  1 hash  then hashes with what was derived from the value
-- ARGV  1 field  2 expected value  3 new value
-- Returns 1, or 0 if the value has changed.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
for i = 2, #KEYS do
  redis.call('HDEL', KEYS[i], ARGV[1])
end
return 1
