-- Take jobs from a queue and mark them as started, atomically: no job is taken without a record. A job whose hash is
-- gone (expired, or deleted by hand) is skipped, as RQ does.
--
-- KEYS  1 queue  2 registry of started jobs  3 executions of the worker
-- ARGV  1 prefix  2 the worker's name  3 now, as text  4 now, in seconds  5 seconds until the next heartbeat is overdue
--       6.. an id for each execution; there may be more than jobs
-- Returns {job's id, execution's id, data} for each job that was started.
local overdue = math.floor(tonumber(ARGV[4])) + tonumber(ARGV[5])

local function begin(id, job, execution_id)
  local name, executions = id .. ':' .. execution_id, ARGV[1] .. ':executions:' .. id
  local execution = ARGV[1] .. ':execution:' .. name
  redis.call('ZADD', KEYS[2], overdue, name)
  redis.call('SADD', KEYS[3], name)
  redis.call('HSET', job, 'status', 'started', 'started_at', ARGV[3], 'last_heartbeat', ARGV[3],
    'worker_name', ARGV[2])
  redis.call('PERSIST', job)
  redis.call('HSET', execution, 'id', execution_id, 'job_id', id, 'created_at', ARGV[4], 'last_heartbeat', ARGV[4],
    'worker_name', ARGV[2])
  redis.call('EXPIRE', execution, ARGV[5])
  redis.call('ZADD', executions, overdue + 60, execution_id)
  redis.call('EXPIRE', executions, ARGV[5] + 60)
end

local begun = {}
for i = 6, #ARGV do
  local id = redis.call('LPOP', KEYS[1])
  if not id then
    break
  end
  local job = ARGV[1] .. ':job:' .. id
  local data = redis.call('HGET', job, 'data')
  if data then
    begin(id, job, ARGV[i])
    begun[#begun + 1] = { id, ARGV[i], data }
  end
end
redis.call('EXPIRE', KEYS[3], ARGV[5] + 60)
return begun
