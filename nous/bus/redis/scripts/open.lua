-- Read a delivery again, if it is pending; and if it stands at a given progress, move it on to the next. That one has
-- to be the caller's alone: when it is found there, this was said before and the reply was lost.
--
-- KEYS  1 stream  2 leases  3 progress
-- ARGV  1 group  2 entry  3 name  4 progress to move on from, or "" for none  5 next progress  6 its lease in seconds
--       7 bytes of the largest event
-- Returns {1 if it stands at the next one now, progress as it was found, event}: its bytes as a number when it is too
-- large, and missing when the entry was deleted. Nothing when it is not pending, or nobody has received it through
-- `receive`.
local progress = redis.call('HGET', KEYS[3], ARGV[3])
if not progress or not is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  return {}
end
local has_moved = ARGV[5] ~= '' and progress == ARGV[5]
local moves_on = progress == ARGV[4]
if moves_on then
  demand_lease(KEYS[2], KEYS[3])
  demand('XRANGE', KEYS[1], ARGV[2], ARGV[2])
  redis.call('HSET', KEYS[3], ARGV[3], ARGV[5])
  redis.call('ZADD', KEYS[2], clock() + tonumber(ARGV[6]), ARGV[3])
end
local entries = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])
return { (moves_on or has_moved) and 1 or 0, progress, entries[1] and event_in(entries[1][2], tonumber(ARGV[7])) }
