-- Read a delivery again, if it is pending.
--
-- KEYS  1 stream  2 progress
-- ARGV  1 group  2 entry  3 name
-- Returns {progress, fields of the entry}; the fields are missing when the entry was deleted. Nothing when it is not
-- pending, or nobody has received it through `receive`.
local progress = redis.call('HGET', KEYS[2], ARGV[3])
if not progress or not is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  return {}
end
local entries = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])
return { progress, entries[1] and entries[1][2] }
