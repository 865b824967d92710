-- Returns the current time in seconds since the epoch. Tests pass it as the last of ARGV. Otherwise that is empty, and
-- the server's time is used, so that the clocks of the clients do not have to agree.
local function clock()
  local given = ARGV[#ARGV]
  if given ~= '' then
    return tonumber(given)
  end
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

