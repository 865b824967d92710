-- Make a buried delivery pending again under its own identity. XCLAIM with FORCE puts the entry back into the group's
-- pending list, without a copy that other groups would see.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5 letters  6 who took the letter
-- ARGV  1 group  2 consumer  3 entry  4 name  5 letter's id  6 counter to move back  7 first progress
--       8 that it was redriven, for its history  9 a name that is this call's alone
-- Returns 1, 0 when somebody else took the letter before, or -1 when the event is no longer in its stream.
local letter = redis.call('XRANGE', KEYS[5], ARGV[5], ARGV[5])[1]
if not letter then
  return was_taken_by(KEYS[6], ARGV[9]) and 1 or 0
end
if #redis.call('XRANGE', KEYS[1], ARGV[3], ARGV[3]) == 0 then
  return -1
end
local was_pending = is_pending(KEYS[1], ARGV[1], ARGV[3])
demand_offer(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1])
demand('SET', KEYS[6], '', 'EX', 1)
demand('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'FORCE', 'JUSTID')
demand_note(KEYS[3], ARGV[4])
demand('XDEL', KEYS[5], ARGV[5])
take(KEYS[6], ARGV[9])
-- It is pending already where somebody made the group anew, which was offered all again: that is counted already.
if was_pending then
  redis.call('XDEL', KEYS[5], ARGV[5])
  return 1
end
redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'FORCE', 'JUSTID')
redis.call('HSET', KEYS[3], ARGV[4], ARGV[7])
redis.call('ZADD', KEYS[2], clock(), ARGV[4])
redis.pcall('HINCRBY', KEYS[4], ARGV[6], -1)
for line in (fields_of(letter[2]).history or ''):gmatch('[^\n]+') do
  redis.call('RPUSH', mishaps_of(KEYS[3], ARGV[4]), line)
end
note(KEYS[3], ARGV[4], ARGV[8])
redis.call('XDEL', KEYS[5], ARGV[5])
return 1
