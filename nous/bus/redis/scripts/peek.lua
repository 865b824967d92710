-- Read the event of one entry, unless it is too large.
--
-- KEYS  1 stream
-- ARGV  1 entry  2 maximum bytes of an event
-- Returns {event, or its size as a number if it is too large}, or nothing if the entry is gone.
local entry = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
return entry and { event_in(entry[2], tonumber(ARGV[2])) } or {}
