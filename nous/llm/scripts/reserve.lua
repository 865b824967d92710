-- Reserve tokens for one call, if the day's token budget has room for them. Idempotent: a call that has a reservation
-- keeps it.
--
-- KEYS  1 tokens of the day  2 calls of the day
-- ARGV  1 scope  2 the call  3 tokens  4 limit  5 TTL of the tokens in seconds  6 TTL of the calls in seconds
-- Returns 1, or 0 if there is no room.
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then
  return 1
end
local spent = tonumber(redis.call('HGET', KEYS[1], 'spent:' .. ARGV[1])) or 0
local used = spent + (tonumber(redis.call('HGET', KEYS[1], 'reserved:' .. ARGV[1])) or 0)
if used > 0 and used + tonumber(ARGV[3]) > tonumber(ARGV[4]) then
  return 0
end
redis.call('HINCRBY', KEYS[1], 'reserved:' .. ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[6])
return 1
