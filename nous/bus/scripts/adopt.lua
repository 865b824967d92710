-- Put pending entries that have no lease on one that has ended, so that the next sweep submits them. They come from a
-- consumer that read the group without `receive`. Entries that were deleted while pending are lost: XAUTOCLAIM names
-- them once and forgets them, so their letters are written here.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5 letters
-- ARGV  1 group  2 consumer  3 cursor  4 lane  5 first progress
--       6.. fields and values of the letter for a lost one
-- Returns {next cursor, entries adopted, entries lost}.
local reply = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'COUNT', 100, 'JUSTID')
local adopted = 0
for _, entry in ipairs(reply[2]) do
  local name = ARGV[4] .. '/' .. entry
  local is_new = redis.call('HEXISTS', KEYS[3], name) == 0
  if is_new and not is_passed_over(KEYS[1], KEYS[3], ARGV[1], name, entry) then
    redis.call('HSET', KEYS[3], name, ARGV[5])
    redis.call('ZADD', KEYS[2], 'NX', clock(), name)
    redis.call('HINCRBY', KEYS[4], 'received', 1)
    adopted = adopted + 1
  end
end
local lost = reply[3] or {}
for _, entry in ipairs(lost) do
  local name = ARGV[4] .. '/' .. entry
  redis.call('ZREM', KEYS[2], name)
  redis.call('HDEL', KEYS[3], name)
  redis.call('HINCRBY', KEYS[4], 'dead', 1)
  redis.call('XADD', KEYS[5], '*', 'entry', entry, unpack(ARGV, 6, #ARGV - 1))
end
return { reply[1], adopted, #lost }
