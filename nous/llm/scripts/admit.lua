-- Circuit breaker: ask whether a provider may be called now. When the open interval is over, one caller becomes the
-- half-open probe. It stays the probe if it asks again under the same name: then its first reply was lost.
--
-- KEYS  1 outages
-- ARGV  1 provider  2 a unique name of this call  3 timeout of a probe in seconds
--       4 seconds between two checks of a caller that waits for a probe
-- Returns nothing if it may be called, or the pause (see prelude.lua).
local now = clock()
local outage = read_outage(KEYS[1], ARGV[1])
if not outage or outage.pause_ends == 0 then
  return false
end
if now < outage.pause_ends then
  return pause_until(outage.pause_ends, outage)
end
if now < outage.probe_ends and outage.prober ~= ARGV[2] then
  return pause_until(math.min(outage.probe_ends, now + tonumber(ARGV[4])), outage)
end
outage.probe_ends = now + tonumber(ARGV[3])
outage.prober = ARGV[2]
write_outage(KEYS[1], ARGV[1], outage)
return false
