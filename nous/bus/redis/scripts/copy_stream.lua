-- Copy entries of a stream to a new one, under their own ids, some with other content. Deleted entries leave nothing in
-- the copy, while in the stream their bytes stay as long as a neighbour does. Idempotent: sent twice, it copies no entry
-- twice.
--
-- KEYS  1 stream  2 its copy
-- ARGV  1 where to begin, as XRANGE takes it  2 maximum number of entries  3 TTL of the copy in seconds
--       then for each entry that gets another event {entry, event}
-- Returns the id of the last entry that was copied, or "" if there was none.
local amended = {}
for i = 4, #ARGV - 1, 2 do
  amended[ARGV[i]] = { 'event', ARGV[i + 1] }
end
local copied = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local last = ''
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])) do
  if not copied or is_behind(entry[1], copied[1]) then
    redis.call('XADD', KEYS[2], entry[1], unpack(amended[entry[1]] or entry[2]))
  end
  last = entry[1]
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
return last
