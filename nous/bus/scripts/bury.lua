-- Acknowledge a delivery that will not be done, and write the letter that says why.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5 letters
-- ARGV  1 group  2 entry  3 name  4 expected progress, or "" for any  5 counter to move
--       6.. fields and values of the letter
-- Returns 1, or 0 when the delivery is over or somebody else has changed it.
if not is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  return 0
end
if ARGV[4] ~= '' and redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[4] then
  return 0
end
redis.call('XADD', KEYS[5], '*', unpack(ARGV, 6, #ARGV - 1))
close(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3], ARGV[2], ARGV[5])
return 1
