-- Shared by the scripts that follow it.

-- Whether a group was offered an entry and has not acknowledged it. This is the fence.
local function is_pending(stream, group, entry)
  return #redis.call('XPENDING', stream, group, entry, entry, 1) > 0
end

-- A delivery is over: forget its lease and its progress, acknowledge, and say what became of it.
local function close(stream, leases, progress, counters, group, name, entry, outcome)
  redis.call('ZREM', leases, name)
  redis.call('HDEL', progress, name)
  redis.call('HINCRBY', counters, outcome, 1)
  redis.call('XACK', stream, group, entry)
end
