-- Close the books of jobs that returned. One that was deleted while it ran leaves nothing behind.
--
-- KEYS  1 worker  2 executions of the worker
-- ARGV  1 prefix  2 the worker's name  3 seconds that the jobs took together  4 result's life where a job names none
--       then for each job {id, execution's id, queue, began in seconds, ended in seconds, ended as text, value}
local function keep(key, life)
  if life < 0 then
    redis.call('PERSIST', key)
  else
    redis.call('EXPIRE', key, life)
  end
end

local function file(job, id, i, life)
  local results = ARGV[1] .. ':results:' .. id
  redis.call('HSET', job, 'status', 'finished', 'ended_at', ARGV[i + 5])
  redis.call('XADD', results, 'MAXLEN', '~', 10, '*', 'type', 1, 'worker_name', ARGV[2], 'return_value', ARGV[i + 6],
    'execution_id', ARGV[i + 1], 'execution_started_at', ARGV[i + 3], 'execution_ended_at', ARGV[i + 4])
  redis.call('ZADD', ARGV[1] .. ':finished:' .. ARGV[i + 2],
    life < 0 and '+inf' or math.floor(tonumber(ARGV[i + 4])) + life, id)
  keep(results, life)
  keep(job, life)
end

local finished = 0
for i = 5, #ARGV, 7 do
  local id, name = ARGV[i], ARGV[i] .. ':' .. ARGV[i + 1]
  local job = ARGV[1] .. ':job:' .. id
  if redis.call('EXISTS', job) == 1 then
    local life = tonumber(redis.call('HGET', job, 'result_ttl') or ARGV[4])
    if life == 0 then
      redis.call('DEL', job)
    else
      file(job, id, i, life)
    end
  end
  redis.call('DEL', ARGV[1] .. ':execution:' .. name)
  redis.call('ZREM', ARGV[1] .. ':executions:' .. id, ARGV[i + 1])
  redis.call('ZREM', ARGV[1] .. ':wip:' .. ARGV[i + 2], name)
  redis.call('SREM', KEYS[2], name)
  finished = finished + 1
end
redis.call('HINCRBY', KEYS[1], 'successful_job_count', finished)
redis.call('HINCRBYFLOAT', KEYS[1], 'total_working_time', ARGV[3])
