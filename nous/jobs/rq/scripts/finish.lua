-- Record the results of jobs that returned. A job that was deleted while it ran leaves nothing behind. A job that was
-- recorded before is not recorded again. An error with one job does not affect the others.
--
-- KEYS  1 worker  2 executions of the worker
-- ARGV  1 prefix  2 the worker's name  3 result's life in seconds where a job names none
--       then for each job {id, execution's id, queue, began in seconds, ended in seconds, ended as text, value}
-- Returns {id, error, id, error, ...} for the jobs that could not be recorded.
local LONGEST = 10 * 365 * 86400

local function life_of(job)
  local life = math.floor(tonumber(redis.call('HGET', job, 'result_ttl') or '') or tonumber(ARGV[3]))
  return math.max(-1, math.min(life, LONGEST))
end

local function keep(key, life)
  if life < 0 then
    redis.call('PERSIST', key)
  else
    redis.call('EXPIRE', key, life)
  end
end

local function file(job, id, i)
  local life = life_of(job)
  if life == 0 then
    redis.call('DEL', job)
    return
  end
  keep(job, life)
  local queue, results = ARGV[i + 2], ARGV[1] .. ':results:' .. id
  -- RQ may have marked it as abandoned meanwhile.
  redis.call('ZREM', ARGV[1] .. ':failed:' .. queue, id)
  redis.call('ZADD', ARGV[1] .. ':finished:' .. queue,
    life < 0 and '+inf' or math.floor(tonumber(ARGV[i + 4])) + life, id)
  redis.call('XADD', results, 'MAXLEN', '~', 10, '*', 'type', 1, 'worker_name', ARGV[2], 'return_value', ARGV[i + 6],
    'execution_id', ARGV[i + 1], 'execution_started_at', ARGV[i + 3], 'execution_ended_at', ARGV[i + 4])
  keep(results, life)
  -- Last, because it marks all the above as done: after an error before this line, the job is recorded again.
  redis.call('HSET', job, 'status', 'finished', 'ended_at', ARGV[i + 5])
end

local function close(id, i)
  local name, job = id .. ':' .. ARGV[i + 1], ARGV[1] .. ':job:' .. id
  redis.call('EXPIRE', job, LONGEST) -- after an error below, the job does not stay for ever
  redis.call('DEL', ARGV[1] .. ':execution:' .. name)
  redis.call('SREM', KEYS[2], name)
  redis.call('ZREM', ARGV[1] .. ':wip:' .. ARGV[i + 2], name)
  redis.call('ZREM', ARGV[1] .. ':executions:' .. id, ARGV[i + 1])
  if redis.call('EXISTS', job) == 1 and redis.call('HGET', job, 'status') ~= 'finished' then
    file(job, id, i)
    redis.call('HINCRBY', KEYS[1], 'successful_job_count', 1)
    redis.call('HINCRBYFLOAT', KEYS[1], 'total_working_time', ARGV[i + 4] - ARGV[i + 3])
  end
end

local failures = {}
for i = 4, #ARGV, 7 do
  local succeeded, failure = pcall(close, ARGV[i], i)
  if not succeeded then
    failures[#failures + 1] = ARGV[i]
    failures[#failures + 1] = type(failure) == 'table' and failure.err or tostring(failure)
  end
end
return failures
