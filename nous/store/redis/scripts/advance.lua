-- Adds vectors to a set, takes others out and moves its mark, all or nothing: only if the mark is still the one seen.
-- KEYS: the set, its mark. ARGV: the mark as it was seen, "" for none; what it is to be, to which the set's new size is
-- put; "anew" to begin with an empty set; how many vectors to add; a vector (float32) and its name for each of these; the
-- names to take out. Returns the mark as it is then.
local seen = redis.call('GET', KEYS[2]) or ''
if seen ~= ARGV[1] then return seen end
if ARGV[3] == 'anew' then redis.call('DEL', KEYS[1]) end
local last = 4 + 2 * tonumber(ARGV[4])
for at = 5, last, 2 do redis.call('VADD', KEYS[1], 'FP32', ARGV[at], ARGV[at + 1], 'NOQUANT') end
for at = last + 1, #ARGV do redis.call('VREM', KEYS[1], ARGV[at]) end
local mark = ARGV[2] .. ' ' .. redis.call('VCARD', KEYS[1])
redis.call('SET', KEYS[2], mark)
return mark
