-- Give pending entries that have no lease an expired one, so that the next sweep retries them. Another program received
-- them without `receive`, or their lease or progress was deleted. If one of the two is left, they were counted as
-- received before. Entries that were deleted while pending are lost: XAUTOCLAIM names them once and forgets them. They
-- are given progress and an expired lease, so that the next sweep dead-letters them (see `dead_letter_foreign_ack.lua`)
-- if this caller cannot.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters
-- ARGV  1 group  2 consumer  3 cursor  4 priority  5 first progress
-- Returns {next cursor, number of entries claimed, {entries lost}}.
demand('HSETNX', KEYS[3], '', '')
demand('ZADD', KEYS[2], 0, '')
demand('HINCRBY', KEYS[4], '', 1)
local reply = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'COUNT', 100, 'JUSTID')
local adopted = 0
for _, entry in ipairs(reply[2]) do
  local name = ARGV[4] .. '/' .. entry
  local has_progress = redis.call('HSETNX', KEYS[3], name, ARGV[5]) == 0
  local has_lease = redis.call('ZADD', KEYS[2], 'NX', clock(), name) == 0
  if not has_lease and not has_progress then
    redis.pcall('HINCRBY', KEYS[4], 'received', 1)
    adopted = adopted + 1
  end
end
local lost = reply[3] or {}
for _, entry in ipairs(lost) do
  local name = ARGV[4] .. '/' .. entry
  local is_new = redis.call('HSETNX', KEYS[3], name, ARGV[5])
  if redis.call('ZADD', KEYS[2], clock(), name) + is_new == 2 then
    redis.pcall('HINCRBY', KEYS[4], 'received', 1)
  end
end
return { reply[1], adopted, lost }
