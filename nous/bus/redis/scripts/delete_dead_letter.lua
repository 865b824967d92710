-- Delete a dead letter, and store for a while that its event is not done: it was dropped.
--
-- KEYS  1 dead letters  2 why the group skipped the event
-- ARGV  1 id of the dead letter  2 reason to store, or "" for none  3 its TTL in seconds
-- Returns 1, or 0 if the dead letter is gone.
if #redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1]) == 0 then
  return 0
end
plan('XDEL', KEYS[1], ARGV[1])
if ARGV[2] ~= '' then
  plan('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
end
apply()
return 1
