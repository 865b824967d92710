-- Save jobs and append them to a queue, but for those that are saved already: an attempt is never queued twice, nor
-- saved and not queued.
--
-- KEYS  1 the set of queues  2 queue
-- ARGV  1 prefix of a job's key  2 number of fields and values that all the jobs share
--       then those fields and values, and for each job {id, data, description}
-- Returns how many jobs were queued.
local shared = tonumber(ARGV[2])
redis.call('SADD', KEYS[1], KEYS[2])
local queued = 0
for i = 3 + shared, #ARGV, 3 do
  local job = ARGV[1] .. ARGV[i]
  if redis.call('EXISTS', job) == 0 then
    redis.call('HSET', job, 'data', ARGV[i + 1], 'description', ARGV[i + 2], unpack(ARGV, 3, 2 + shared))
    redis.call('RPUSH', KEYS[2], ARGV[i])
    queued = queued + 1
  end
end
return queued
