-- Put pending entries that have no lease on one that has ended, so that the next sweep submits them. They come from a
-- consumer that read the group without `receive`, or somebody has deleted their lease or their progress: one of the two
-- says that they were received before. Entries that were deleted while pending are lost: XAUTOCLAIM names them once and
-- forgets them. They keep progress and a lease that has ended, so that whoever looks next sets them aside (see
-- `disown.lua`), should the caller not come to it.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters
-- ARGV  1 group  2 consumer  3 cursor  4 lane  5 first progress
-- Returns {next cursor, entries adopted, {entries lost}, entries whose lease or progress was gone}.
demand_offer(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1])
local reply = redis.call('XAUTOCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[3], 'COUNT', 100, 'JUSTID')
local adopted, mended = 0, 0
for _, entry in ipairs(reply[2]) do
  local name = ARGV[4] .. '/' .. entry
  local has_progress = redis.call('HEXISTS', KEYS[3], name) == 1
  if has_progress or not is_passed_over(KEYS[1], KEYS[3], ARGV[1], name, entry) then
    redis.call('HSETNX', KEYS[3], name, ARGV[5])
    local has_lease = redis.call('ZADD', KEYS[2], 'NX', clock(), name) == 0
    if not has_lease and not has_progress then
      redis.pcall('HINCRBY', KEYS[4], 'received', 1)
      adopted = adopted + 1
    elseif has_lease ~= has_progress then
      mended = mended + 1
    end
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
return { reply[1], adopted, lost, mended }
