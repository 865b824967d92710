-- Replace the rows of a fact log by their rewritten copy, if the log has not changed since it was copied, and overwrite
-- the vectors to which no row refers any more. Idempotent: sent twice, it finds that it is done.
--
-- KEYS  1 head  2 the copy  3 rows  then the block of vectors of each range to overwrite
-- ARGV  1 the old version  2 the new version  3 number of rows  then offset and size of each range in bytes
-- Returns 1, or 0 if the log has changed or the copy has expired.
local head = redis.call('GET', KEYS[1]) or ''
if head == ARGV[2] then
  return 1
end
if head ~= ARGV[1] then
  return 0
end
local has_rows = tonumber(ARGV[3]) > 0
if has_rows and redis.call('EXISTS', KEYS[2]) == 0 then
  return 0
end

for i = 4, #KEYS do
  redis.call('SETRANGE', KEYS[i], ARGV[2 * i - 4], string.rep('\0', tonumber(ARGV[2 * i - 3])))
end
redis.call('DEL', KEYS[3])
if has_rows then
  redis.call('RENAME', KEYS[2], KEYS[3])
  redis.call('PERSIST', KEYS[3])
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
