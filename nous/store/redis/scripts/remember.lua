-- Remembers what became of a file, only while the markers of all events that were published of it are there. A server
-- that has lost them since (a power cut takes the tail of what was written) has lost the events as well; what stands
-- behind them in that tail goes with them, so that a file is never remembered whose events are gone.
-- KEYS: the place, the markers. ARGV: the file's name, what became of it, the life of the place in seconds. Returns 1 if
-- it is remembered. May be sent twice.
for at = 2, #KEYS do
  if redis.call('EXISTS', KEYS[at]) == 0 then return 0 end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
