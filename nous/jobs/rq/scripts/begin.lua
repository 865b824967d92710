-- Take jobs from a queue and mark them as started, atomically: no job is taken without a record. A job whose hash is
-- gone (expired, or deleted by hand) is skipped, as RQ does, and so is an id that RQ would not accept. A call longer than
-- any of ours is cut off.
--
-- KEYS  1 queue  2 registry of started jobs  3 executions of the worker
-- ARGV  1 prefix  2 the worker's name  3 now, as text  4 now, in seconds  5 seconds until the next heartbeat is overdue
--       6.. an id for each execution; there may be more than jobs
-- Returns {job's id, execution's id, data} for each job that was started.
local function is(kind, key)
  local found = redis.call('TYPE', key).ok
  return found == kind or found == 'none'
end

-- Check the types before taking a job: an error later on would leave jobs that were taken and never run.
for i, kind in ipairs({ 'list', 'zset', 'set' }) do
  if not is(kind, KEYS[i]) then
    return redis.error_reply('WRONGTYPE ' .. KEYS[i] .. ' should be a ' .. kind .. '; delete it')
  end
end

local LONGEST = 65536
local overdue = math.floor(tonumber(ARGV[4])) + tonumber(ARGV[5])

local function begin(id, job, executions, execution_id)
  local name = id .. ':' .. execution_id
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
  local job, executions = ARGV[1] .. ':job:' .. id, ARGV[1] .. ':executions:' .. id
  local data = id:find('^[%w_-]+$') and is('hash', job) and is('zset', executions) and redis.call('HGET', job, 'data')
  if data and #data > LONGEST then
    data = 'too long' -- none of ours is; the full call would be read once more when the result is recorded
    redis.call('HSET', job, 'data', data)
  end
  if data then
    begin(id, job, executions, ARGV[i])
    begun[#begun + 1] = { id, ARGV[i], data }
  end
end
redis.call('EXPIRE', KEYS[3], ARGV[5] + 60)
return begun
