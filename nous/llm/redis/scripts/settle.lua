-- Book what a call has cost in place of what was set aside for it. A call that is settled stays known as that, so that
-- no second word, and no `reserve` that was under way, changes it.
--
-- KEYS  1 tokens of the day  2 calls of the day
-- ARGV  1 scope  2 the call  3 tokens it has cost  4 seconds to keep the tokens  5 seconds to keep the calls
local held = redis.call('HGET', KEYS[2], ARGV[2])
if held == 'settled' then
  return
end
if held then
  -- Subtracted from 0: the negative of 0 is "-0", which is no integer to older servers.
  redis.call('HINCRBY', KEYS[1], 'reserved:' .. ARGV[1], 0 - tonumber(held))
end
redis.call('HINCRBY', KEYS[1], 'spent:' .. ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[2], 'settled')
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[5])
