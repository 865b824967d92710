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

-- The field of its progress that says: a group is through with an entry that it will be offered, since it had finished
-- with the one in whose place that stands.
local function through(name)
  return 'through ' .. name
end

-- Whether a group is through with an entry that it is offered now; then that is over, unless it was redriven meanwhile.
local function is_passed_over(stream, progress, group, name, entry)
  if redis.call('HDEL', progress, through(name)) == 0 then
    return false
  end
  if redis.call('HEXISTS', progress, name) == 0 then
    redis.call('XACK', stream, group, entry)
  end
  return true
end
