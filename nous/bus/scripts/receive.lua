-- Take new entries for a group and put each on a lease, in one step: nothing is ever delivered and forgotten. Those that
-- stand in the place of others, with which it had finished, are passed over.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters
-- ARGV  1 group  2 consumer  3 limit  4 lane  5 first progress  6 lease in seconds
-- Returns the entries as XREADGROUP does: {{id, {field, value, ...}}, ...}.
local reply = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', ARGV[3], 'STREAMS', KEYS[1], '>')
if not reply then
  return {}
end
local entries, received = {}, 0
local ends = clock() + tonumber(ARGV[6])
for _, entry in ipairs(reply[1][2]) do
  local name = ARGV[4] .. '/' .. entry[1]
  if not is_passed_over(KEYS[1], KEYS[3], ARGV[1], name, entry[1]) then
    redis.call('HSET', KEYS[3], name, ARGV[5])
    -- One that has a lease was received before, by a group that somebody has deleted since.
    received = received + redis.call('ZADD', KEYS[2], ends, name)
    entries[#entries + 1] = entry
  end
end
redis.call('HINCRBY', KEYS[4], 'received', received)
return entries
