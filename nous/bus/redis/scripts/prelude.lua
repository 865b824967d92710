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

-- The type of key that a command writes. That of the counters (HINCRBY) is not checked: a delivery ends even if another
-- program has damaged them; these then show a discrepancy.
local TYPES = {
  HSET = 'hash', HSETNX = 'hash', HDEL = 'hash', SET = 'string', SETRANGE = 'string', RPUSH = 'list', LTRIM = 'list',
  ZADD = 'zset', ZREM = 'zset', SADD = 'set', SREM = 'set', XADD = 'stream', XDEL = 'stream', XACK = 'stream',
}

local function is_allowed(command, key, ...)
  return not redis.acl_check_cmd or redis.acl_check_cmd(command, key, ...)
end

-- Raise an error if this user may not run a command, or a key of another type is in its way. A user who may not see the
-- type of a key, such as a producer, only publishes: there the first write fails.
local function demand(command, key, ...)
  if not is_allowed(command, key, ...) then
    error({ err = 'NOPERM this user may not run ' .. command:lower() .. ' on ' .. key })
  end
  local wanted = TYPES[command]
  local found = wanted and is_allowed('TYPE', key) and redis.call('TYPE', key).ok or 'none'
  if found ~= 'none' and found ~= wanted then
    error({ err = 'WRONGTYPE ' .. key .. ' is a ' .. found .. ', and has to be a ' .. wanted })
  end
end

-- There is no rollback: a script that fails half-way leaves its first half. So a script first reads, and plans what it
-- writes; `apply` checks all that is planned before it runs the first command. An argument may be a function of the
-- result of the command before.
local planned = {}
local function plan(...)
  planned[#planned + 1] = { ... }
end

local function apply()
  for _, call in ipairs(planned) do
    local known = {}
    for i, argument in ipairs(call) do
      known[i] = type(argument) == 'function' and '' or argument
    end
    demand(unpack(known))
  end
  local result
  for _, call in ipairs(planned) do
    for i, argument in ipairs(call) do
      call[i] = type(argument) == 'function' and argument(result) or argument
    end
    result = call[1] == 'HINCRBY' and redis.pcall(unpack(call)) or redis.call(unpack(call))
  end
  planned = {}
end

-- The failure history of a pending delivery: the last few lines, for a while.
local MOST_MISHAPS, LIFE_OF_MISHAPS = 12, 7 * 24 * 3600
local function mishaps_of(progress, name)
  return progress .. ':' .. name
end

local function dated(mishap)
  return string.format('%.0f', clock() * 1000) .. ' ' .. mishap
end

local function plan_note(progress, name, mishap)
  local key = mishaps_of(progress, name)
  plan('RPUSH', key, dated(mishap))
  plan('LTRIM', key, -MOST_MISHAPS, -1)
  plan('EXPIRE', key, LIFE_OF_MISHAPS)
end

-- Plan a dead letter: the failure history of the delivery, and the fields in ARGV from *first* on. Publish *event*, if
-- it is not empty.
local function plan_letter(letters, deaths, progress, name, mishap, event, first)
  local history = redis.call('LRANGE', mishaps_of(progress, name), mishap == '' and 0 or 1 - MOST_MISHAPS, -1)
  history[#history + 1] = mishap ~= '' and dated(mishap) or nil
  plan('XADD', letters, '*', 'history', table.concat(history, '\n'), unpack(ARGV, first, #ARGV - 1))
  if event ~= '' then
    plan('XADD', deaths, '*', 'event', event)
  end
end

-- End a delivery: delete its lease, progress and history, count its outcome, and acknowledge it.
local function plan_close(stream, leases, progress, counters, group, name, entry, outcome)
  plan('ZREM', leases, name)
  plan('HDEL', progress, name)
  plan('DEL', mishaps_of(progress, name))
  plan('HINCRBY', counters, outcome, 1)
  plan('XACK', stream, group, entry)
end

-- Set the progress of a delivery and give it a lease.
local function plan_progress(leases, progress, name, state, ends)
  plan('HSET', progress, name, state)
  plan('ZADD', leases, ends, name)
end

-- Return the event in the fields of an entry, or its size if that is more than *largest* bytes.
local function event_in(list, largest)
  local event = fields_of(list).event or ''
  return #event > largest and #event or event
end
