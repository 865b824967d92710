-- Replace a stream by its copy, to which the entries that came since, the groups and their pending lists are added
-- first. Nothing is done if something was deleted meanwhile, or the stream was replaced: then it has to be copied again.
-- Idempotent: sent twice, it finds a stream from which nothing was ever deleted, or none.
--
-- KEYS  1 stream  2 its copy
-- ARGV  1 where the entries that the copy lacks begin, as XRANGE takes it  2 prefix of all keys  3 priority
--       4 the highest id that was deleted from the stream when it was copied
local known = redis.call('EXISTS', KEYS[1]) == 1 and fields_of(redis.call('XINFO', 'STREAM', KEYS[1])) or {}
if known['max-deleted-entry-id'] ~= ARGV[4] then
  redis.call('DEL', KEYS[2])
  return
end
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+')) do
  redis.call('XADD', KEYS[2], entry[1], unpack(entry[2]))
end
if redis.call('XLEN', KEYS[1]) ~= redis.call('XLEN', KEYS[2]) then
  redis.call('DEL', KEYS[2])
  return
end

-- The number of entries up to a group's position, which the server needs for `lag`; left out if counting takes too
-- long.
local MOST = 200
local function read_by(group)
  local waiting = #redis.call('XRANGE', KEYS[2], '(' .. group['last-delivered-id'], '+', 'COUNT', MOST + 1)
  return waiting <= MOST and { 'ENTRIESREAD', redis.call('XLEN', KEYS[2]) - waiting } or {}
end

-- A pending entry that was deleted is lost to its group, and counted as erased.
local function claim(group, pending)
  local entry, consumer, idle, times = unpack(pending)
  local claimed = redis.call('XCLAIM', KEYS[2], group, consumer, 0, entry, 'IDLE', idle, 'RETRYCOUNT', times,
    'FORCE', 'JUSTID')
  if #claimed == 0 then
    local name = ARGV[3] .. '/' .. entry
    local account = ARGV[2] .. ':account:' .. group
    if redis.call('HEXISTS', ARGV[2] .. ':progress:' .. group, name) == 0 then
      plan('HINCRBY', account, 'received', 1)
    end
    plan_close(KEYS[1], ARGV[2] .. ':leases:' .. group, ARGV[2] .. ':progress:' .. group, account, group, name, entry,
      'erased')
    apply()
  end
end

for _, list in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = fields_of(list)
  redis.call('XGROUP', 'CREATE', KEYS[2], group.name, group['last-delivered-id'], 'MKSTREAM', unpack(read_by(group)))
  for _, pending in ipairs(redis.call('XPENDING', KEYS[1], group.name, '-', '+', math.max(group.pending, 1))) do
    claim(group.name, pending)
  end
end
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('XSETID', KEYS[2], known['last-generated-id'])
  redis.call('RENAME', KEYS[2], KEYS[1])
  redis.call('PERSIST', KEYS[1])
else
  redis.call('DEL', KEYS[1])
end
