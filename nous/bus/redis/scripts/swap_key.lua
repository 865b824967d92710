-- Replace a fact log by its rewritten copy, if the log has not changed since it was copied. Idempotent: sent twice, it
-- finds that it is done.
--
-- KEYS  1 head  then pairs {key of the copy, key that it replaces}, then every key of the old log
-- ARGV  1 the old version  2 the new version  3 number of pairs
-- Returns 1, or 0 if the log has changed or the copy has expired.
local head = redis.call('GET', KEYS[1]) or ''
if head == ARGV[2] then
  return 1
end
if head ~= ARGV[1] then
  return 0
end
local pairs_end = 1 + 2 * tonumber(ARGV[3])
for i = 2, pairs_end, 2 do
  if redis.call('EXISTS', KEYS[i]) == 0 then
    return 0
  end
end

for i = pairs_end + 1, #KEYS do
  redis.call('DEL', KEYS[i])
end
for i = 2, pairs_end, 2 do
  redis.call('RENAME', KEYS[i], KEYS[i + 1])
  redis.call('PERSIST', KEYS[i + 1])
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
