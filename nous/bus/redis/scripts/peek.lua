-- Read the event of one entry, if it fits into memory.
--
-- KEYS  1 stream
-- ARGV  1 entry  2 bytes of the largest event
-- Returns {event, or its bytes as a number when it is too large}, or nothing when the entry is gone.
local entry = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
return entry and { event_in(entry[2], tonumber(ARGV[2])) } or {}
