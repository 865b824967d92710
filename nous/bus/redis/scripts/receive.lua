-- Deliver new entries to a group and give each a lease, in one step, so that no delivery is without a lease.
--
-- Entries are read one by one. Those of a foreign producer may be of any size, and reading all at once could exhaust
-- the memory of server and caller. An event that is too large is not transferred. Once the maximum size of one event
-- was transferred in total, the rest is left to the next call.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters
-- ARGV  1 group  2 consumer  3 limit  4 priority  5 first progress  6 lease in seconds  7 maximum bytes of an event
-- Returns {{id, event, or its size as a number if it is too large}, ...}.
demand('HSET', KEYS[3], '', '')
demand('ZADD', KEYS[2], 0, '')
demand('HINCRBY', KEYS[4], '', 1)
local taken, handed, received = {}, 0, 0
local ends = clock() + tonumber(ARGV[6])
while #taken < tonumber(ARGV[3]) and handed < tonumber(ARGV[7]) do
  local reply = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', 1, 'STREAMS', KEYS[1], '>')
  if not reply then
    break
  end
  local id, event = reply[1][2][1][1], event_in(reply[1][2][1][2], tonumber(ARGV[7]))
  local name = ARGV[4] .. '/' .. id
  redis.call('HSET', KEYS[3], name, ARGV[5])
  -- An entry that has a lease was counted before: its group was deleted and created again since.
  received = received + redis.call('ZADD', KEYS[2], ends, name)
  taken[#taken + 1] = { id, event }
  handed = handed + (type(event) == 'string' and #event or 0)
end
redis.pcall('HINCRBY', KEYS[4], 'received', received)
return taken
