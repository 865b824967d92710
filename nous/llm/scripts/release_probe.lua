-- Circuit breaker: let another caller become the probe, since this one ended without a result about the provider.
--
-- KEYS  1 outages
-- ARGV  1 provider
local outage = read_outage(KEYS[1], ARGV[1])
if outage then
  outage.probe_ends = 0
  write_outage(KEYS[1], ARGV[1], outage)
end
