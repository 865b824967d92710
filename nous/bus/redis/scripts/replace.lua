-- Replace a field of a hash, if it is as it was read.
--
-- KEYS  1 hash
-- ARGV  1 field  2 what was read  3 what takes its place
-- Returns 1, or 0 when it has changed.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
