-- Erase entries from a stream, and end their deliveries. A commit that comes later finds its delivery over. Each group
-- that had not finished with an entry, or had not read it yet, counts it as received and erased.
--
-- An entry may be replaced by an amended one with the same event id. That is delivered to those groups. For the others
-- it is done, or dead, as the original was: dead letters about the original then refer to it, and keep the original's
-- id.
--
-- KEYS  1 stream
-- ARGV  1 prefix of all keys  2 priority  3 TTL of the markers in seconds  4 id of the last dead letter that the caller
--       has read, then for each entry {entry, event id, amended event or "", ids of the dead letters about it that were
--       read, each with a blank behind it}
-- Returns {entries, deliveries} that were erased, as counts.
local groups = {}
for _, list in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = fields_of(list)
  groups[#groups + 1] = {
    name = group['name'],
    read = group['last-delivered-id'],
    progress = ARGV[1] .. ':progress:' .. group['name'],
  }
end

local function waits_for(group, name, entry)
  local is_through = redis.call('HDEL', group.progress, through(name)) == 1
  return is_pending(KEYS[1], group.name, entry) or (is_behind(entry, group.read) and not is_through)
end

local function erase_for(group, name, entry)
  local account = ARGV[1] .. ':account:' .. group.name
  if redis.call('HEXISTS', group.progress, name) == 0 then
    redis.pcall('HINCRBY', account, 'received', 1)
  end
  close(KEYS[1], ARGV[1] .. ':leases:' .. group.name, group.progress, account, group.name, name, entry, 'erased')
end

-- A group reads in order: an entry that is not next is passed over when it is reached. It never is if another program
-- has set the group's position beyond the end.
local function pass_over(group, name, entry)
  local ahead = redis.call('XRANGE', KEYS[1], '(' .. group.read, '+', 'COUNT', 1)[1]
  if ahead and ahead[1] == entry then
    redis.call('XREADGROUP', 'GROUP', group.name, 'nous', 'COUNT', 1, 'STREAMS', KEYS[1], '>')
    redis.call('XACK', KEYS[1], group.name, entry)
    group.read = entry
  elseif ahead then
    redis.call('HSET', group.progress, through(name), '')
  end
end

local function is_about(letter, entry)
  local kind = ':' .. (letter.kind or '')
  return letter.entry == entry and letter.lane == ARGV[2] and KEYS[1]:sub(-#kind) == kind
end

local LETTERS = ARGV[1] .. ':dead'
local function readdress_one(letter, entry, place)
  local told = fields_of(letter[2])
  if is_about(told, entry) then
    told.entry, told.first = place, told.first or letter[1]
    local list = {}
    for field, value in pairs(told) do
      list[#list + 1], list[#list + 2] = field, value
    end
    redis.call('XDEL', LETTERS, letter[1])
    redis.call('XADD', LETTERS, '*', unpack(list))
  end
end

-- There may be very many dead letters. The caller has read them, so only those written since are examined.
local since
local function readdress(ids, entry, place)
  since = since or redis.call('XRANGE', LETTERS, '(' .. ARGV[4], '+')
  for id in ids:gmatch('%S+') do
    for _, letter in ipairs(redis.call('XRANGE', LETTERS, id, id)) do
      readdress_one(letter, entry, place)
    end
  end
  for _, letter in ipairs(since) do
    readdress_one(letter, entry, place)
  end
end

local function forget_event(id)
  redis.call('DEL', ARGV[1] .. ':marker:' .. id)
  for _, group in ipairs(groups) do
    redis.call('DEL', ARGV[1] .. ':skipped:' .. group.name .. ':' .. id)
  end
end

local function amend(entry, id, amended, done, letters)
  local marker, place = ARGV[1] .. ':marker:' .. id, redis.call('XADD', KEYS[1], '*', 'event', amended)
  -- It points elsewhere if this entry is a duplicate of another one.
  if redis.call('GET', marker) == ARGV[2] .. '/' .. entry then
    redis.call('SET', marker, ARGV[2] .. '/' .. place, 'EX', ARGV[3])
  end
  for _, group in ipairs(done) do
    pass_over(group, ARGV[2] .. '/' .. place, place)
  end
  readdress(letters, entry, place)
end

local function demand_all()
  for _, group in ipairs(groups) do
    local leases, account = ARGV[1] .. ':leases:' .. group.name, ARGV[1] .. ':account:' .. group.name
    demand_close(KEYS[1], leases, group.progress, account, group.name, '', '0-1')
    demand('HSET', group.progress, '', '')
    demand('DEL', ARGV[1] .. ':skipped:' .. group.name)
  end
  for _, stream in ipairs({ KEYS[1], LETTERS }) do
    demand_type(stream, 'stream')
    demand('XADD', stream, '*', '', '')
    demand('XDEL', stream, '0-1')
    demand('XRANGE', stream, '-', '+')
  end
  demand('GET', ARGV[1] .. ':marker:')
  demand('SET', ARGV[1] .. ':marker:', '', 'EX', 1)
  demand('DEL', ARGV[1] .. ':marker:')
end

demand_all()
local entries, deliveries = 0, 0
for i = 5, #ARGV - 1, 4 do
  local entry, id, amended, letters = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if #redis.call('XRANGE', KEYS[1], entry, entry) > 0 then
    local name, done = ARGV[2] .. '/' .. entry, {}
    for _, group in ipairs(groups) do
      if waits_for(group, name, entry) then
        erase_for(group, name, entry)
        deliveries = deliveries + 1
      else
        done[#done + 1] = group
      end
    end
    redis.call('XDEL', KEYS[1], entry)
    if amended == '' then
      forget_event(id)
    else
      amend(entry, id, amended, done, letters)
    end
    entries = entries + 1
  end
end
return { entries, deliveries }
