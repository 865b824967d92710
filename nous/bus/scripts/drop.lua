-- Forget a letter, and remember for a while that its event is not done: it was dropped.
--
-- KEYS  1 letters  2 why the group skipped the event
-- ARGV  1 letter's id  2 what is remembered, or "" for nothing  3 for how many seconds
-- Returns 1, or 0 when the letter was gone.
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return 0
end
if ARGV[2] ~= '' then
  redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
end
return 1
