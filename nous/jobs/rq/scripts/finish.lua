-- Record the results of jobs that returned. A job that was deleted while it ran leaves nothing behind. A job that was
-- recorded before is not recorded again.
--
-- KEYS  1 worker  2 executions of the worker
-- ARGV  1 prefix  2 the worker's name  3 result's life in seconds where a job names none
--       then for each job {id, execution's id, queue, began in seconds, ended in seconds, ended as text, value}
local function file(job, id, i)
  local life = tonumber(redis.call('HGET', job, 'result_ttl') or ARGV[3])
  local queue, results = ARGV[i + 2], ARGV[1] .. ':results:' .. id
  redis.call('EXPIRE', job, life)
  -- RQ may have marked it as abandoned meanwhile.
  redis.call('ZREM', ARGV[1] .. ':failed:' .. queue, id)
  redis.call('ZADD', ARGV[1] .. ':finished:' .. queue, math.floor(tonumber(ARGV[i + 4])) + life, id)
  redis.call('XADD', results, 'MAXLEN', '~', 10, '*', 'type', 1, 'worker_name', ARGV[2], 'return_value', ARGV[i + 6],
    'execution_id', ARGV[i + 1], 'execution_started_at', ARGV[i + 3], 'execution_ended_at', ARGV[i + 4])
  redis.call('EXPIRE', results, life)
  -- Last, because it marks all the above as done: after an error before this line, the job is recorded again.
  redis.call('HSET', job, 'status', 'finished', 'ended_at', ARGV[i + 5])
end

for i = 4, #ARGV, 7 do
  local id, name = ARGV[i], ARGV[i] .. ':' .. ARGV[i + 1]
  local job = ARGV[1] .. ':job:' .. id
  -- Deletions first: a server that is out of memory allows a script to write on once it has begun with one.
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
