-- Return the pending deliveries with an expired lease, and their progress. A lease whose name can be no delivery's was
-- written by another program. It is deleted and reported once, so that such leases do not fill every page.
--
-- KEYS  1 leases  2 progress
-- ARGV  1 limit  2.. all priorities
-- Returns {{name, progress or nil, name, progress or nil, ...}, {names of leases that were deleted}}.
local lanes = {}
for i = 2, #ARGV - 1 do
  lanes[ARGV[i]] = true
end

local LONGEST = 19 -- digits: a longer number may not be an entry's id
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
