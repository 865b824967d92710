-- Dead-letter a delivery: acknowledge it, and write the dead letter with the reason.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5 dead letters  6 stream of `job_dead_lettered`
-- ARGV  1 group  2 entry  3 name  4 expected progress, or "" for any  5 counter to increment  6 last failure, or ""
--       7 event to publish about it, or ""  8.. fields and values of the dead letter
-- Returns 1, or 0 if the delivery is over or its progress has changed.
if not is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  return 0
end
if ARGV[4] ~= '' and redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[4] then
  return 0
end
plan_letter(KEYS[5], KEYS[6], KEYS[3], ARGV[3], ARGV[6], ARGV[7], 8)
plan_close(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3], ARGV[2], ARGV[5])
apply()
return 1
