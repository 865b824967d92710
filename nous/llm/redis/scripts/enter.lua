-- Ask whether a provider may be called now, as `nous.llm.circuit_state.entered` decides. After a pause one caller becomes the
-- probe, and remains it when it asks again under the same name: then its first reply was lost.
--
-- KEYS  1 outages
-- ARGV  1 provider  2 a name for this call, which nobody else has  3 seconds for a probe
--       4 seconds until somebody who waits for a probe looks again
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
