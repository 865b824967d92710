-- The last of ARGV is the time in seconds since the epoch, for tests; it is empty otherwise, and time is the server's:
-- then no two hosts have to agree on it.
local function clock()
  local given = ARGV[#ARGV]
  if given ~= '' then
    return tonumber(given)
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

