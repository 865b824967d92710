-- Take entries out of a stream, and out of the hands of whoever has them. A commit that comes later finds its delivery
-- over; each group that had not finished with an entry, or was not offered it yet, counts it as received and erased.
-- An entry may leave another in its place for those groups, under the same event's id.
--
-- KEYS  1 stream
-- ARGV  1 prefix of all keys  2 lane  3 the markers' life in seconds
--       then for each entry {entry, event's id, what is told in its place or ""}
-- Returns {entries, deliveries} that were erased, as counts.
local groups = {}
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local told = {}
  for i = 1, #group, 2 do
    told[group[i]] = group[i + 1]
  end
  groups[#groups + 1] = { name = told['name'], read = told['last-delivered-id'] }
end

local function is_behind(entry, read)
  local ms, seq = entry:match('^(%d+)-(%d+)$')
  local read_ms, read_seq = read:match('^(%d+)-(%d+)$')
  ms, seq, read_ms, read_seq = tonumber(ms), tonumber(seq), tonumber(read_ms), tonumber(read_seq)
  return ms > read_ms or (ms == read_ms and seq > read_seq)
end

local function erase_for(group, name, entry)
  local progress = ARGV[1] .. ':progress:' .. group.name
  local account = ARGV[1] .. ':account:' .. group.name
  local has_it = is_pending(KEYS[1], group.name, entry)
  if not has_it and not is_behind(entry, group.read) then
    return 0
  end
  if redis.call('HEXISTS', progress, name) == 0 then
    redis.call('HINCRBY', account, 'received', 1)
  end
  close(KEYS[1], ARGV[1] .. ':leases:' .. group.name, progress, account, group.name, name, entry, 'erased')
  return 1
end

local function forget_event(id)
  redis.call('DEL', ARGV[1] .. ':marker:' .. id)
  for _, group in ipairs(groups) do
    redis.call('DEL', ARGV[1] .. ':skipped:' .. group.name .. ':' .. id)
  end
end

local entries, deliveries = 0, 0
for i = 4, #ARGV - 1, 3 do
  local entry, id, amended = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if #redis.call('XRANGE', KEYS[1], entry, entry) > 0 then
    local erased = 0
    for _, group in ipairs(groups) do
      erased = erased + erase_for(group, ARGV[2] .. '/' .. entry, entry)
    end
    redis.call('XDEL', KEYS[1], entry)
    if amended == '' then
      forget_event(id)
    elseif erased > 0 then
      local place = ARGV[2] .. '/' .. redis.call('XADD', KEYS[1], '*', 'event', amended)
      redis.call('SET', ARGV[1] .. ':marker:' .. id, place, 'EX', ARGV[3])
    end
    entries, deliveries = entries + 1, deliveries + erased
  end
end
return { entries, deliveries }
