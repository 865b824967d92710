-- Shared by the scripts that follow it.

-- Return whether this is the first call of a write: redis-py sends it again if its reply is lost.
local function is_first(marker)
  return redis.call('SET', marker, '', 'NX', 'EX', 600)
end

local TIMES = { 'since', 'pause_ends', 'length', 'probe_ends' }

-- Return the circuit state of a provider that has not answered since it failed, or nil. Numbers are stored as text:
-- cjson would round them to 14 digits.
local function read_outage(outages, provider)
  local raw = redis.call('HGET', outages, provider)
  if not raw then
    return nil
  end
  local outage = cjson.decode(raw)
  for _, name in ipairs(TIMES) do
    outage[name] = tonumber(outage[name])
  end
  outage.failures = tonumber(outage.failures)
  return outage
end

-- The hash expires two days after its last change, which is longer than any pause.
local function write_outage(outages, provider, outage)
  local record = { failure = outage.failure, failures = string.format('%d', outage.failures), prober = outage.prober }
  for _, name in ipairs(TIMES) do
    record[name] = string.format('%.17g', outage[name])
  end
  redis.call('HSET', outages, provider, cjson.encode(record))
  redis.call('EXPIRE', outages, 172800)
end

-- Return a pause as callers get it: {its end, time of the first failure, failure, number of failures}.
local function pause_until(ends, outage)
  return { string.format('%.17g', ends), string.format('%.17g', outage.since), outage.failure, outage.failures }
end
