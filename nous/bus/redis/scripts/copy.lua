-- Copy entries of a stream to one that is built aside, under their own ids. Deleted ones leave nothing there, while in
-- the stream itself their bytes stay as long as a neighbour does. Sent twice, it copies none twice.
--
-- KEYS  1 stream  2 the one aside
-- ARGV  1 after which entry, as XRANGE takes it  2 at most so many  3 life of the one aside in seconds
-- Returns the id of the last entry that was copied, or "" when there was none.
local copied = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local last = ''
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])) do
  if not copied or is_behind(entry[1], copied[1]) then
    redis.call('XADD', KEYS[2], entry[1], unpack(entry[2]))
  end
  last = entry[1]
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
return last
