-- Shared by the scripts that follow it.

-- Convert a list of names and values, as the server returns it, to a table.
local function fields_of(list)
  local found = {}
  for i = 1, #list, 2 do
    found[list[i]] = list[i + 1]
  end
  return found
end

-- Return whether an entry comes after the last one that a group has read.
local function is_behind(entry, read)
  local ms, seq = entry:match('^(%d+)-(%d+)$')
  local read_ms, read_seq = read:match('^(%d+)-(%d+)$')
  ms, seq, read_ms, read_seq = tonumber(ms), tonumber(seq), tonumber(read_ms), tonumber(read_seq)
  return ms > read_ms or (ms == read_ms and seq > read_seq)
end

-- Return whether an entry was delivered to a group and is not acknowledged. This is the fence against a second commit.
local function is_pending(stream, group, entry)
  return #redis.call('XPENDING', stream, group, entry, entry, 1) > 0
end

-- There is no rollback: a script that fails half-way leaves its first half. So everything that it needs is checked
-- before it writes: the permissions of this user, and the types of the keys.
local function demand(command, key, ...)
  if redis.acl_check_cmd and not redis.acl_check_cmd(command, key, ...) then
    error({ err = 'NOPERM this user may not run ' .. command:lower() .. ' on ' .. key })
  end
end

local function demand_type(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= wanted then
    error({ err = 'WRONGTYPE ' .. key .. ' is a ' .. found .. ', and has to be a ' .. wanted })
  end
end

-- As in `nous.bus.accounting`.
local MOST_COUNTERS = 100

-- The failure history of a pending delivery: the last few lines, for a while.
local MOST_MISHAPS, LIFE_OF_MISHAPS = 12, 7 * 24 * 3600
local function mishaps_of(progress, name)
  return progress .. ':' .. name
end

local function note(progress, name, mishap)
  if mishap ~= '' then
    local key = mishaps_of(progress, name)
    redis.call('RPUSH', key, string.format('%.0f', clock() * 1000) .. ' ' .. mishap)
    redis.call('LTRIM', key, -MOST_MISHAPS, -1)
    redis.call('EXPIRE', key, LIFE_OF_MISHAPS)
  end
end

local function demand_note(progress, name)
  local mishaps = mishaps_of(progress, name)
  clock()
  demand_type(mishaps, 'list')
  demand('RPUSH', mishaps, '')
  demand('LTRIM', mishaps, 0, 0)
  demand('EXPIRE', mishaps, 1)
end

-- Write a dead letter: the failure history of the delivery, and the fields in ARGV from *first* on. Publish *event*, if
-- it is not empty.
local function write_letter(letters, deaths, progress, name, mishap, event, first)
  note(progress, name, mishap)
  local told = table.concat(redis.call('LRANGE', mishaps_of(progress, name), 0, -1), '\n')
  redis.call('XADD', letters, '*', 'history', told, unpack(ARGV, first, #ARGV - 1))
  if event ~= '' then
    redis.call('XADD', deaths, '*', 'event', event)
  end
end

local function demand_letter(letters, deaths, progress, name)
  demand_type(letters, 'stream')
  demand_type(deaths, 'stream')
  demand_note(progress, name)
  demand('LRANGE', mishaps_of(progress, name), 0, 0)
  demand('XADD', letters, '*', '', '')
  demand('XADD', deaths, '*', '', '')
end

-- Increment a counter; beyond the maximum number of counters, skip reasons share one.
local function count(counters, outcome)
  if redis.call('HLEN', counters) >= MOST_COUNTERS and redis.call('HEXISTS', counters, outcome) == 0 then
    outcome = outcome:find('^skipped:') and 'skipped:other reasons' or outcome
  end
  redis.call('HINCRBY', counters, outcome, 1)
end

-- End a delivery: delete its lease, progress and history, count its outcome, and acknowledge it. It ends even if
-- another program has damaged the counters; these then show a discrepancy.
local function close(stream, leases, progress, counters, group, name, entry, outcome)
  redis.call('ZREM', leases, name)
  redis.call('HDEL', progress, name)
  redis.call('DEL', mishaps_of(progress, name))
  pcall(count, counters, outcome)
  redis.call('XACK', stream, group, entry)
end

-- The type of the counters is not checked: a delivery ends even if they are damaged.
local function demand_close(stream, leases, progress, counters, group, name, entry)
  demand_type(leases, 'zset')
  demand_type(progress, 'hash')
  demand('ZREM', leases, name)
  demand('HDEL', progress, name)
  demand('DEL', mishaps_of(progress, name))
  demand('HLEN', counters)
  demand('HEXISTS', counters, '')
  demand('HINCRBY', counters, '', 1)
  demand('XACK', stream, group, entry)
end

-- Progress and lease are written together.
local function demand_lease(leases, progress)
  clock()
  demand_type(leases, 'zset')
  demand_type(progress, 'hash')
  demand('HSET', progress, '', '')
  demand('ZADD', leases, 0, '')
end

-- A delivery that is new to a group.
local function demand_offer(leases, progress, counters)
  demand_lease(leases, progress)
  demand('HSETNX', progress, '', '')
  demand('HINCRBY', counters, '', 1)
end

-- Return the event in the fields of an entry, or its size if that is more than *largest* bytes.
local function event_in(list, largest)
  local event = fields_of(list).event or ''
  return #event > largest and #event or event
end
