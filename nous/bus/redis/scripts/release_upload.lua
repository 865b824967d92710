-- Delete the upload of an event if it is no longer needed: every group of its stream has finished with the event and no
-- dead letter could have it retried, or its entry is gone, or it was erased. Check and deletion are one step, since an
-- event that was done a moment ago may have been redriven, removed from the pending list, or published again since.
--
-- KEYS  1 upload  2 marker  3 tombstones of its scope  4 dead letters  5.. streams of its type, one per priority
-- ARGV  1 prefix of all keys  2 the name that its tombstone would have  3 its type  4 value of its marker, or ""
--       5 id of the last dead letter that the caller has read: up to it, none is about the entry in the marker
--       6.. the priorities of those streams
-- Returns 1, or 0 if it may still be needed.
local function is_through(stream, group, name, entry)
  local progress = ARGV[1] .. ':progress:' .. group.name
  if is_pending(stream, group.name, entry) or redis.call('HEXISTS', progress, name) == 1 then
    return false
  end
  return not is_behind(entry, group['last-delivered-id']) or redis.call('HEXISTS', progress, through(name)) == 1
end

-- There may be very many dead letters: only those written since the caller read them are examined. A new dead letter
-- never has a lower id than an existing one.
local function has_letter(lane, entry)
  for _, letter in ipairs(redis.call('XRANGE', KEYS[4], '(' .. ARGV[5], '+')) do
    local told = fields_of(letter[2])
    if told.kind == ARGV[3] and told.lane == lane and told.entry == entry then
      return true
    end
  end
  return false
end

local function is_wanted(lane, entry)
  for i = 5, #KEYS do
    if ARGV[i + 1] == lane and #redis.call('XRANGE', KEYS[i], entry, entry) > 0 then
      local groups = redis.call('XINFO', 'GROUPS', KEYS[i])
      for _, list in ipairs(groups) do
        if not is_through(KEYS[i], fields_of(list), lane .. '/' .. entry, entry) then
          return true
        end
      end
      return #groups == 0 or has_letter(lane, entry) -- a group that is created later gets past events
    end
  end
  return false
end

local place = redis.call('GET', KEYS[2]) or ''
if place ~= ARGV[4] then
  return 0 -- it was published, moved or erased since the caller read the marker
end
if place ~= '' then
  local lane, entry = place:match('^(%a+)/(%d+-%d+)$')
  if not lane or is_wanted(lane, entry) then
    return 0
  end
elseif redis.call('HEXISTS', KEYS[3], ARGV[2]) == 0 then
  return 0 -- its entry is unknown
end
redis.call('UNLINK', KEYS[1])
return 1
