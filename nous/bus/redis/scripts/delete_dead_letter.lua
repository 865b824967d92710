-- Delete a dead letter, and store for a while that its event is not done: it was dropped.
--
-- KEYS  1 dead letters  2 why the group skipped the event  3 the call that took the dead letter
-- ARGV  1 id of the dead letter  2 reason to store, or "" for none  3 its TTL in seconds  4 a unique name of this call
-- Returns 1, or 0 if another call took the dead letter before.
demand('SET', KEYS[3], '', 'EX', 1)
if ARGV[2] ~= '' then
  demand('SET', KEYS[2], '', 'EX', 1)
end
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return was_taken_by(KEYS[3], ARGV[4]) and 1 or 0
end
take(KEYS[3], ARGV[4])
if ARGV[2] ~= '' then
  redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
end
return 1
