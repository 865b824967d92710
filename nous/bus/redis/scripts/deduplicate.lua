-- Deduplicate deliveries: set the marker (idempotency key) of each event, unless another entry has set it. A delivery
-- that is no longer pending sets none. The server may have lost its entry, and then the same event published again must
-- not count as a duplicate.
--
-- KEYS  1 stream  then for each delivery its event's marker, and the tombstones of its scope
-- ARGV  1 group  2 marker TTL in seconds  then for each {entry, "priority/entry", name its tombstone would have}
-- Returns for each "first", "repeated", "forgotten" or "over".
local found = {}
for i = 1, (#KEYS - 1) / 2 do
  local marker, tombstones = KEYS[2 * i], KEYS[2 * i + 1]
  local entry, place, name = ARGV[3 * i], ARGV[3 * i + 1], ARGV[3 * i + 2]
  if not is_pending(KEYS[1], ARGV[1], entry) then
    found[i] = 'over'
  elseif redis.call('HEXISTS', tombstones, name) == 1 then
    found[i] = 'forgotten'
  else
    local known = redis.call('GET', marker)
    if not known then
      redis.call('SET', marker, place, 'EX', ARGV[2])
    end
    found[i] = (not known or known == place) and 'first' or 'repeated'
  end
end
return found
