-- Add to counters, once.
--
-- KEYS  1 calls  2 marker of this addition
-- ARGV  fields and what to add to them
if is_first(KEYS[2]) then
  for i = 1, #ARGV - 1, 2 do
    redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
