-- Who of some deliveries is the first to tell its event: it leaves the event's marker, unless one is there. One that is
-- pending no more leaves nothing: its server may have lost it meanwhile, and what says it again must not be taken for a
-- repeat.
--
-- KEYS  1 stream  then for each delivery its event's marker, and the tombstones of its scope
-- ARGV  1 group  2 the markers' life in seconds  then for each {entry, "lane/entry", the name its tombstone would have}
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
