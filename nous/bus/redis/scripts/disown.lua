-- Set aside a delivery that somebody took out of the pending list: we acknowledge and forget in one step, so one that
-- has progress and is not pending was ended by a foreign hand. One that its group will be offered again, since it was
-- made anew, is left to that.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5 letters  6 stream of what was dead-lettered
-- ARGV  1 group  2 entry  3 name  4 event that tells of it, or ""  5.. fields and values of the letter
-- Returns 1, or 0 when it is pending, or over, or will be offered again.
local function is_offered_again()
  if #redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2]) == 0 then
    return false
  end
  for _, list in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    local group = fields_of(list)
    if group['name'] == ARGV[1] then
      return is_behind(ARGV[2], group['last-delivered-id'])
    end
  end
  return false
end

if is_pending(KEYS[1], ARGV[1], ARGV[2]) then
  return 0
end
if redis.call('HEXISTS', KEYS[3], ARGV[3]) == 0 then
  redis.call('ZREM', KEYS[2], ARGV[3])
  return 0
end
if is_offered_again() then
  return 0
end
demand_letter(KEYS[5], KEYS[6], KEYS[3], ARGV[3])
demand_close(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3], ARGV[2])
write_letter(KEYS[5], KEYS[6], KEYS[3], ARGV[3], '', ARGV[4], 5)
close(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3], ARGV[2], 'dead')
return 1
