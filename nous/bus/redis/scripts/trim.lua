-- Remove old entries that are no longer needed. An entry stays if a group has it pending, or if a dead letter is
-- about it. Trimming stops at the first entry that is too young, or that a group has not read. The last entry that a
-- group has read stays too: without it the server could not compute the group's `lag`.
--
-- Entries are removed one by one with XDEL. By that a stream records that it still holds their bytes, which XTRIM would
-- not, and an erasure then rewrites the stream.
--
-- KEYS  1 stream  2 dead letters
-- ARGV  1 minimum age in seconds  2 event type  3 priority  4 where to begin, as XRANGE takes it
--       5 how many entries to examine  6 id of the last dead letter that the caller has read
--       7.. the next entries that dead letters are about, as many as will be examined
-- Returns {number of entries removed, where to continue or "" at the end}.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return { 0, '' }
end

local kept = {}
for i = 7, #ARGV - 1 do
  kept[ARGV[i]] = true
end
-- Dead letters written since the caller read them. A new one never has a lower id than an existing one.
for _, letter in ipairs(redis.call('XRANGE', KEYS[2], '(' .. ARGV[6], '+')) do
  local told = fields_of(letter[2])
  if told.kind == ARGV[2] and told.lane == ARGV[3] and told.entry then
    kept[told.entry] = true
  end
end

local groups = {}
for _, list in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  groups[#groups + 1] = fields_of(list)
end

local youngest = (clock() - tonumber(ARGV[1])) * 1000

local function is_to_come(entry)
  for _, group in ipairs(groups) do
    local read = group['last-delivered-id']
    if entry == read or is_behind(entry, read) then
      return true
    end
  end
  return tonumber(entry:match('^%d+')) > youngest
end

local function is_needed(entry)
  for _, group in ipairs(groups) do
    if is_pending(KEYS[1], group.name, entry) then
      return true
    end
  end
  return kept[entry]
end

local removed, after = 0, ARGV[4]
for _ = 1, tonumber(ARGV[5]) do
  -- One at a time: each is read with its whole content.
  local found = redis.call('XRANGE', KEYS[1], after, '+', 'COUNT', 1)[1]
  local entry = found and found[1]
  if not entry or is_to_come(entry) then
    return { removed, '' }
  end
  if not is_needed(entry) then
    removed = removed + redis.call('XDEL', KEYS[1], entry)
  end
  after = '(' .. entry
end
return { removed, after }
