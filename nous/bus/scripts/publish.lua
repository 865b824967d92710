-- Append an event once. The marker remembers under its id where it went, so that saying it again says nothing.
--
-- KEYS  1 stream   2 marker
-- ARGV  1 payload  2 lane  3 the marker's life in seconds
-- Returns {1, "lane/entry"} when it was appended, {0, "lane/entry"} when it stood there already.
local known = redis.call('GET', KEYS[2])
if known then
  return { 0, known }
end
local place = ARGV[2] .. '/' .. redis.call('XADD', KEYS[1], '*', 'event', ARGV[1])
redis.call('SET', KEYS[2], place, 'EX', ARGV[3])
return { 1, place }
