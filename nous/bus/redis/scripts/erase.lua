-- Erase entries from a stream, and end their deliveries. A commit that comes later finds its delivery over. Each group
-- that had not finished with an entry, or had not read it yet, counts it as received and erased.
--
-- KEYS  1 stream
-- ARGV  1 prefix of all keys  2 priority, then for each entry {entry, event id}
-- Returns {entries, deliveries} that were erased, as counts.
local groups = {}
for _, list in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = fields_of(list)
  groups[#groups + 1] = {
    name = group['name'],
    read = group['last-delivered-id'],
    leases = ARGV[1] .. ':leases:' .. group['name'],
    progress = ARGV[1] .. ':progress:' .. group['name'],
    account = ARGV[1] .. ':account:' .. group['name'],
  }
end

local function erase_for(group, name, entry)
  if redis.call('HEXISTS', group.progress, name) == 0 then
    plan('HINCRBY', group.account, 'received', 1)
  end
  plan_close(KEYS[1], group.leases, group.progress, group.account, group.name, name, entry, 'erased')
end

local entries, deliveries = 0, 0
for i = 3, #ARGV - 1, 2 do
  local entry, id = ARGV[i], ARGV[i + 1]
  if #redis.call('XRANGE', KEYS[1], entry, entry) > 0 then
    for _, group in ipairs(groups) do
      if is_pending(KEYS[1], group.name, entry) or is_behind(entry, group.read) then
        erase_for(group, ARGV[2] .. '/' .. entry, entry)
        deliveries = deliveries + 1
      end
      plan('DEL', ARGV[1] .. ':skipped:' .. group.name .. ':' .. id)
    end
    plan('XDEL', KEYS[1], entry)
    plan('DEL', ARGV[1] .. ':marker:' .. id)
    entries = entries + 1
  end
end
apply()
return { entries, deliveries }
