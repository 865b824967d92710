-- How large the entries are that come next in some streams. They are not handed over: a foreign producer may have put
-- anything into them.
--
-- KEYS  1.. streams
-- ARGV  1.. for each the entry that it is read up to
-- Returns the bytes of the largest, or 0 where none comes next.
local largest = 0
for i, stream in ipairs(KEYS) do
  local size = 0
  for _, entry in ipairs(redis.call('XRANGE', stream, '(' .. ARGV[i], '+', 'COUNT', 1)) do
    for _, part in ipairs(entry[2]) do
      size = size + #part
    end
  end
  largest = math.max(largest, size)
end
return largest
