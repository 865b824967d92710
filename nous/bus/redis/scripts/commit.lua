-- Commit: apply a handler's effects and acknowledge its delivery, both or neither, at most once. This is the fence
-- against a second commit of a delivery.
--
-- Lua has no rollback, so the order matters. First check everything: pending? preconditions? key types and permissions
-- (`apply`)? Then run the commands, which are idempotent. Then publish events under their idempotency keys, and
-- acknowledge last. The group's pending list is the only record of what is done; it cannot expire.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5.. those that ARGV refers to by number
-- ARGV  1 group, or "" for effects of no delivery  2 entry  3 name  4 counter to increment  5 marker TTL in seconds
--       then three lists, each after its length:
--       preconditions  {key number, command, number of arguments, arguments..., expected}
--       commands       {key number, command, number of arguments, arguments...}
--       events         {number of the stream's key, number of the marker's key, payload, priority}
-- Returns "committed", "duplicate", or "refused: ..." with the precondition that did not hold.
local at = 6
local function take()
  at = at + 1
  return ARGV[at - 1]
end

local function take_call()
  local call = { key = KEYS[tonumber(take())], command = take(), arguments = {} }
  for i = 1, tonumber(take()) do
    call.arguments[i] = take()
  end
  return call
end

local is_fenced = ARGV[1] ~= ''
if is_fenced and not is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  return 'duplicate'
end

for _ = 1, tonumber(take()) do
  local call = take_call()
  local expected = take()
  local found = redis.call(call.command, call.key, unpack(call.arguments))
  if (found or '') ~= expected then
    return 'refused: ' .. call.key .. ' has changed'
  end
end

-- A partial commit would be worse than none: an episode that is stored without its event would count as announced.
for _ = 1, tonumber(take()) do
  local call = take_call()
  plan(call.command, call.key, unpack(call.arguments))
end

local told = {}
for _ = 1, tonumber(take()) do
  local stream, marker, payload, lane = KEYS[tonumber(take())], KEYS[tonumber(take())], take(), take()
  if not told[marker] and not redis.call('GET', marker) then
    told[marker] = true
    plan('XADD', stream, '*', 'event', payload)
    plan('SET', marker, function(entry)
      return lane .. '/' .. entry
    end, 'EX', ARGV[5])
  end
end

if is_fenced then
  plan_close(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3], ARGV[2], ARGV[4])
end
apply()
return 'committed'
