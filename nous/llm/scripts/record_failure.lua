-- Circuit breaker: record a failure of a provider. Idempotent: a failure that is reported again is not counted again.
--
-- KEYS  1 outages  2 marker of this failure
-- ARGV  1 provider  2 failure  3 retry time given by the provider, or ""  4 longest pause it may request, in seconds
--       5 first pause in seconds  6 longest pause in seconds  7 number of consecutive failures that opens the circuit
-- Returns the current pause (see prelude.lua), or nothing.
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
