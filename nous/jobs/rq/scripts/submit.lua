-- Save jobs and append them to a queue, atomically. Jobs that are saved already are skipped, so no attempt is queued
-- twice. Each job may name the job of an earlier attempt, which is deleted if it is over: a delivery that is deferred
-- again and again would otherwise leave as many jobs as attempts.
--
-- KEYS  1 the set of queues  2 queue
-- ARGV  1 prefix  2 number of fields and values that all the jobs share
--       then those fields and values, and for each job {id, data, description, id of the earlier one or ""}
-- Returns how many jobs were queued.
local shared = tonumber(ARGV[2])
local IS_OVER = { failed = true, finished = true }

-- The registry of ended jobs is named after the status. Foreign data that causes an error here stays.
local function delete_if_over(id)
  local job = ARGV[1] .. ':job:' .. id
  local fields = redis.pcall('HMGET', job, 'status', 'origin')
  if IS_OVER[fields[1]] and fields[2] then
    redis.pcall('ZREM', ARGV[1] .. ':' .. fields[1] .. ':' .. fields[2], id)
    redis.call('DEL', job, ARGV[1] .. ':results:' .. id)
  end
end

redis.call('SADD', KEYS[1], KEYS[2])
local queued = 0
for i = 3 + shared, #ARGV, 4 do
  local job = ARGV[1] .. ':job:' .. ARGV[i]
  if redis.call('EXISTS', job) == 0 then
    redis.call('HSET', job, 'data', ARGV[i + 1], 'description', ARGV[i + 2], unpack(ARGV, 3, 2 + shared))
    redis.call('RPUSH', KEYS[2], ARGV[i])
    queued = queued + 1
    if ARGV[i + 3] ~= '' then
      delete_if_over(ARGV[i + 3])
    end
  end
end
return queued
