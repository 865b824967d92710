-- Record the tokens that a call has used, in place of its reservation. The call stays marked as settled, so that
-- neither a second report nor a `reserve` that is still on its way changes the usage.
--
-- KEYS  1 tokens of the day  2 calls of the day
-- ARGV  1 scope  2 the call  3 tokens used  4 TTL of the tokens in seconds  5 TTL of the calls in seconds
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
