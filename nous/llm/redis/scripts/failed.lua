-- Note a failure of a provider, as `nous.llm.circuit_state.failed` decides. A failure that is heard of again is not counted
-- again.
--
-- KEYS  1 outages  2 marker of this failure
-- ARGV  1 provider  2 failure  3 the time the provider has given, or ""  4 seconds of the longest pause it may ask for
--       5 seconds of a first pause  6 of the longest  7 the failure in a row from which on there is a pause
-- Returns the pause that is in force (see prelude.lua), or nothing.
local now = clock()
local outage = read_outage(KEYS[1], ARGV[1]) or { since = now, failures = 0, pause_ends = 0, length = 0 }
local given = tonumber(ARGV[3]) or 0
given = given > now and math.min(given, now + tonumber(ARGV[4])) or 0

local function lengthen()
  if given > outage.pause_ends then
    outage.pause_ends = given
    outage.failure = ARGV[2]
    write_outage(KEYS[1], ARGV[1], outage)
  end
end

local function count()
  outage.failure = ARGV[2]
  outage.failures = outage.failures + 1
  outage.probe_ends = 0
  if given > 0 then
    outage.pause_ends = given
  elseif outage.failures >= tonumber(ARGV[7]) then
    outage.length = math.max(tonumber(ARGV[5]), math.min(2 * outage.length, tonumber(ARGV[6])))
    outage.pause_ends = now + outage.length
  end
  write_outage(KEYS[1], ARGV[1], outage)
end

if now < outage.pause_ends then
  lengthen()
elseif is_first(KEYS[2]) then
  count()
end
return now < outage.pause_ends and pause_until(outage.pause_ends, outage)
