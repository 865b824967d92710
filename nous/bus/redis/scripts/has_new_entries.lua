-- Return the size of the next entries of some streams. Their content is not transferred, since those of a foreign
-- producer may be of any size.
--
-- KEYS  1.. streams
-- ARGV  1.. for each stream, the last entry that was read
-- Returns the bytes of the largest next entry, or 0 if there is none.
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
