-- Compare and set the progress of a pending delivery, renew its lease, and append to its failure history.
--
-- KEYS  1 stream  2 leases  3 progress
-- ARGV  1 group  2 entry  3 name  4 progress before  5 progress after  6 lease in seconds
--       7 the failure, or ""
-- Returns 1, or 0 if the delivery is over or its progress has changed.
if not is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  return 0
end
if redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[4] then
  return 0
end
plan_progress(KEYS[2], KEYS[3], ARGV[3], ARGV[5], clock() + tonumber(ARGV[6]))
if ARGV[7] ~= '' then
  plan_note(KEYS[3], ARGV[3], ARGV[7])
end
apply()
return 1
