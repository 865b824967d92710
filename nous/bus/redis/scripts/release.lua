-- Remove what was uploaded for an event, if nobody is going to read it: every group of its stream is through with it,
-- and no letter could have it tried again; or its entry is gone, or it was forgotten. Looking and removing are one step,
-- since what was done a moment ago may have been redriven since, or taken from us, or have been published anew.
--
-- KEYS  1 upload  2 marker  3 tombstones of its scope  4 letters  5.. streams of its kind, one for each lane
-- ARGV  1 prefix of all keys  2 the name that its tombstone would have  3 its kind  4 what its marker said, or ""
--       5 id of the last letter that the caller has read: none of those up to it is about the place that this names
--       6.. the lanes of those streams
-- Returns 1, or 0 when somebody may need it.
local function is_through(stream, group, name, entry)
  local progress = ARGV[1] .. ':progress:' .. group.name
  if is_pending(stream, group.name, entry) or redis.call('HEXISTS', progress, name) == 1 then
    return false
  end
  return not is_behind(entry, group['last-delivered-id']) or redis.call('HEXISTS', progress, through(name)) == 1
end

-- There may be as many letters as ever went wrong: only what came since the caller looked is looked through. A letter
-- that is written is never older than one that stands there.
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
      return #groups == 0 or has_letter(lane, entry) -- whoever comes late gets the past
    end
  end
  return false
end

local place = redis.call('GET', KEYS[2]) or ''
if place ~= ARGV[4] then
  return 0 -- it was published, or moved, or forgotten, since the caller looked
end
if place ~= '' then
  local lane, entry = place:match('^(%a+)/(%d+-%d+)$')
  if not lane or is_wanted(lane, entry) then
    return 0
  end
elseif redis.call('HEXISTS', KEYS[3], ARGV[2]) == 0 then
  return 0 -- nobody can tell where it stands
end
redis.call('UNLINK', KEYS[1])
return 1
