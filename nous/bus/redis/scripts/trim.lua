-- Remove entries that were accepted long ago and that nobody has to come back to. One stays that a group has pending, or
-- has progress with, since a foreign hand took it out of the pending list and its letter is not written yet; or that a
-- letter is about. At the first that is young, or that a group is yet to read, the rest of the stream stays too. So does
-- the last one that a group has read: without it the server would not know any more how many are behind (`lag`).
--
-- Entries go one by one, by XDEL: a stream remembers by that that it still holds their bytes, which XTRIM would not say,
-- and whoever forgets a session has it written anew.
--
-- KEYS  1 stream  2 letters
-- ARGV  1 for how many seconds an entry stays  2 kind  3 lane  4 where to begin, as XRANGE takes it
--       5 how many entries to look at  6 prefix of all keys  7 id of the last letter that the caller has read
--       8.. the next entries that such letters are about, as many as will be looked at
-- Returns {entries removed, where to go on or "" at the end}.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return { 0, '' }
end

local kept = {}
for i = 8, #ARGV - 1 do
  kept[ARGV[i]] = true
end
-- What was buried since the caller looked. A letter that is written is never older than one that stands there.
for _, letter in ipairs(redis.call('XRANGE', KEYS[2], '(' .. ARGV[7], '+')) do
  local told = fields_of(letter[2])
  if told.kind == ARGV[2] and told.lane == ARGV[3] and told.entry then
    kept[told.entry] = true
  end
end

local groups = {}
for _, list in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = fields_of(list)
  group.progress = ARGV[6] .. ':progress:' .. group.name
  groups[#groups + 1] = group
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
  local name = ARGV[3] .. '/' .. entry
  for _, group in ipairs(groups) do
    if is_pending(KEYS[1], group.name, entry) or redis.call('HEXISTS', group.progress, name) == 1 then
      return true
    end
  end
  return kept[entry]
end

local removed, after = 0, ARGV[4]
for _ = 1, tonumber(ARGV[5]) do
  -- One at a time: each comes with all that it holds.
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
