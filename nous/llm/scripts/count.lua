-- Increment counters, idempotently.
--
-- KEYS  1 calls  2 marker of this addition
-- ARGV  fields, each with its increment
if is_first(KEYS[2]) then
  for i = 1, #ARGV - 1, 2 do
    redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
