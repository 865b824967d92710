-- Make a dead-lettered delivery pending again, with the same entry id. XCLAIM with FORCE puts the entry back into the
-- group's pending list, without a copy that other groups would see.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5 dead letters
-- ARGV  1 group  2 consumer  3 entry  4 name  5 id of the dead letter  6 counter to decrement  7 first progress
--       8 history line about the redrive
-- Returns 1, 0 if the dead letter is gone, or -1 if the event is no longer in its stream.
local letter = redis.call('XRANGE', KEYS[5], ARGV[5], ARGV[5])[1]
if not letter then
  return 0
end
if #redis.call('XRANGE', KEYS[1], ARGV[3], ARGV[3]) == 0 then
  return -1
end
-- It is pending already if the group was deleted and created again, and received all entries once more: then it is
-- counted.
if not is_pending(KEYS[1], ARGV[1], ARGV[3]) then
  plan('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'FORCE', 'JUSTID')
  plan_progress(KEYS[2], KEYS[3], ARGV[4], ARGV[7], clock())
  plan('HINCRBY', KEYS[4], ARGV[6], -1)
  for line in (fields_of(letter[2]).history or ''):gmatch('[^\n]+') do
    plan('RPUSH', mishaps_of(KEYS[3], ARGV[4]), line)
  end
  plan_note(KEYS[3], ARGV[4], ARGV[8])
end
plan('XDEL', KEYS[5], ARGV[5])
apply()
return 1
