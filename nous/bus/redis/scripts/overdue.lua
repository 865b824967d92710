-- The pending deliveries whose lease has ended, with their progress. A lease that can be no delivery's was written by
-- somebody else: it is forgotten, and told this once, so that such leases never come before all others.
--
-- KEYS  1 leases  2 progress
-- ARGV  1 limit  2.. the lanes that there are
-- Returns {{name, progress or nil, name, progress or nil, ...}, {names of leases that were forgotten}}.
local lanes = {}
for i = 2, #ARGV - 1 do
  lanes[ARGV[i]] = true
end

local LONGEST = 19 -- digits: with more it may be no entry's id
local found, strange = {}, {}
local names = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', clock(), 'LIMIT', 0, ARGV[1])
for _, name in ipairs(names) do
  local lane, ms, seq = name:match('^(%a+)/(%d+)%-(%d+)$')
  if lane and lanes[lane] and #ms <= LONGEST and #seq <= LONGEST then
    found[#found + 1] = name
    found[#found + 1] = redis.call('HGET', KEYS[2], name)
  else
    strange[#strange + 1] = name
    redis.call('ZREM', KEYS[1], name)
  end
end
return { found, strange }
