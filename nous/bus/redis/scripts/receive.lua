-- Take new entries for a group and put each on a lease, in one step: nothing is ever delivered and forgotten. Those that
-- stand in the place of others, with which it had finished, are passed over.
--
-- They are read one by one: a foreign producer may have put anything into each, and all at once would fill the memory of
-- server and caller. What is too large is not handed over, and once that much was, the rest is left for the next call.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters
-- ARGV  1 group  2 consumer  3 limit  4 lane  5 first progress  6 lease in seconds  7 bytes of the largest event
-- Returns {{id, event, or its bytes as a number when it is too large}, ...}.
demand_offer(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1])
local taken, handed, received = {}, 0, 0
local ends = clock() + tonumber(ARGV[6])
while #taken < tonumber(ARGV[3]) and handed < tonumber(ARGV[7]) do
  local reply = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', 1, 'STREAMS', KEYS[1], '>')
  if not reply then
    break
  end
  local id, event = reply[1][2][1][1], event_in(reply[1][2][1][2], tonumber(ARGV[7]))
  local name = ARGV[4] .. '/' .. id
  if not is_passed_over(KEYS[1], KEYS[3], ARGV[1], name, id) then
    redis.call('HSET', KEYS[3], name, ARGV[5])
    -- One that has a lease was received before, by a group that somebody has deleted since.
    received = received + redis.call('ZADD', KEYS[2], ends, name)
    taken[#taken + 1] = { id, event }
    handed = handed + (type(event) == 'string' and #event or 0)
  end
end
redis.pcall('HINCRBY', KEYS[4], 'received', received)
return taken
