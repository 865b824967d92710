-- Forget a letter, and remember for a while that its event is not done: it was dropped.
--
-- KEYS  1 letters  2 why the group skipped the event  3 who took the letter
-- ARGV  1 letter's id  2 what is remembered, or "" for nothing  3 for how many seconds  4 a name that is this call's alone
-- Returns 1, or 0 when somebody else took the letter before.
demand('SET', KEYS[3], '', 'EX', 1)
if ARGV[2] ~= '' then
  demand('SET', KEYS[2], '', 'EX', 1)
end
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return was_taken_by(KEYS[3], ARGV[4]) and 1 or 0
end
take(KEYS[3], ARGV[4])
if ARGV[2] ~= '' then
  redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
end
return 1
