-- Replace the rows of a fact log, if it has not changed since it was read, and overwrite the vectors to which no row
-- refers any more. Idempotent: sent twice, it finds that it is done.
--
-- KEYS  1 head  2 rows  then the block of vectors of each range to overwrite
-- ARGV  1 the old version  2 the new version  then offset and size of each range in bytes  then the rows, by line, some
--       in each argument  and the time, unused
-- Returns 1, or 0 if the log has changed.
local head = redis.call('GET', KEYS[1]) or ''
if head == ARGV[2] then
  return 1
end
if head ~= ARGV[1] then
  return 0
end

for i = 3, #KEYS do
  redis.call('SETRANGE', KEYS[i], ARGV[2 * i - 3], string.rep('\0', tonumber(ARGV[2 * i - 2])))
end
redis.call('DEL', KEYS[2])
for i = 2 * #KEYS - 1, #ARGV - 1 do
  local rows = {}
  for row in string.gmatch(ARGV[i], '[^\n]+') do
    rows[#rows + 1] = row
  end
  redis.call('RPUSH', KEYS[2], unpack(rows))
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
