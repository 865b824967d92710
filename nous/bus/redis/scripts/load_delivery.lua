-- Read a delivery again if it is pending. If its progress is as given, replace it by the next one. The next progress
-- has to be unique to the caller: if it is found already, this is a repeated call whose reply was lost.
--
-- KEYS  1 stream  2 leases  3 progress
-- ARGV  1 group  2 entry  3 name  4 progress to replace, or "" for none  5 next progress  6 its lease in seconds
--       7 maximum bytes of an event
-- Returns {1 if it has the next progress now, progress as it was found, event}. The event is its size as a number if it
-- is too large, and missing if the entry was deleted. Returns nothing if the delivery is not pending; then its lease, if
-- it has one, goes: another program acknowledged it, or deleted its group.
local progress = redis.call('HGET', KEYS[3], ARGV[3])
if not progress or not is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  redis.call('ZREM', KEYS[2], ARGV[3])
  return {}
end
local has_moved = ARGV[5] ~= '' and progress == ARGV[5]
local moves_on = progress == ARGV[4]
local entry = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])[1]
if moves_on then
  plan_progress(KEYS[2], KEYS[3], ARGV[3], ARGV[5], clock() + tonumber(ARGV[6]))
  apply()
end
return { (moves_on or has_moved) and 1 or 0, progress, entry and event_in(entry[2], tonumber(ARGV[7])) }
