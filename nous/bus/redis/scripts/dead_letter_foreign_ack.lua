-- Dead-letter a delivery that another program removed from the pending list. Our scripts acknowledge and delete the
-- progress in one step, so a delivery with progress that is not pending was ended by another program. If its group was
-- created again and will be delivered the entry once more, nothing is done.
--
-- KEYS  1 stream  2 leases  3 progress  4 counters  5 dead letters  6 stream of `job_dead_lettered`
-- ARGV  1 group  2 entry  3 name  4 event to publish about it, or ""  5.. fields and values of the dead letter
-- Returns 1, or 0 if it is pending, or over, or will be delivered again.
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
plan_letter(KEYS[5], KEYS[6], KEYS[3], ARGV[3], '', ARGV[4], 5)
plan_close(KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[3], ARGV[2], 'dead')
apply()
return 1
