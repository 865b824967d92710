-- Let somebody else go first after a pause: the call that did has come to nothing that tells of the provider.
--
-- KEYS  1 outages
-- ARGV  1 provider
local outage = read_outage(KEYS[1], ARGV[1])
if outage then
  outage.probe_ends = 0
  write_outage(KEYS[1], ARGV[1], outage)
end
