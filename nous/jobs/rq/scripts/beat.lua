-- Record the heartbeat of running jobs. Jobs that have ended meanwhile, or were deleted, are not touched.
--
-- KEYS  none
-- ARGV  1 prefix  2 now, as text  3 now, in seconds  4 seconds until the next heartbeat is overdue
--       then for each job {id, execution's id, queue}
local overdue = math.floor(tonumber(ARGV[3])) + tonumber(ARGV[4])
for i = 5, #ARGV, 3 do
  local id, name = ARGV[i], ARGV[i] .. ':' .. ARGV[i + 1]
  local job, execution = ARGV[1] .. ':job:' .. id, ARGV[1] .. ':execution:' .. name
  local executions = ARGV[1] .. ':executions:' .. id
  if redis.call('EXISTS', execution) == 1 and redis.call('EXISTS', job) == 1 then
    redis.call('HSET', job, 'last_heartbeat', ARGV[2])
    redis.call('HSET', execution, 'last_heartbeat', ARGV[3])
    redis.call('EXPIRE', execution, ARGV[4])
    redis.call('ZADD', executions, 'XX', overdue + 60, ARGV[i + 1])
    redis.call('EXPIRE', executions, ARGV[4] + 60)
    redis.call('ZADD', ARGV[1] .. ':wip:' .. ARGV[i + 2], 'XX', overdue, name)
  end
end
