-- Record the outcome of a file, only while the idempotency keys of all events published for it exist.
-- A server that has lost these keys (a power cut takes the tail of the AOF) has lost the events as well. The record is
-- written after them, so it is lost with them: no file stays recorded whose events are gone.
-- KEYS: the folder, the idempotency keys. ARGV: the file's name, its record, the TTL of the folder in seconds.
-- Returns 1 if it was recorded. Idempotent.
for at = 2, #KEYS do
  if redis.call('EXISTS', KEYS[at]) == 0 then return 0 end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
