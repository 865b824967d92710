-- Add vectors to a set and advance its watermark atomically, if the watermark is still the one seen.
-- KEYS: the set, its watermark. ARGV: the watermark as seen, "" for none; the new one, to which the set's new size is
-- appended; "anew" to begin with an empty set; for each vector to add, the vector (float32) and its name. Returns the
-- watermark as it is then.
local seen = redis.call('GET', KEYS[2]) or ''
if seen ~= ARGV[1] then return seen end
if ARGV[3] == 'anew' then redis.call('DEL', KEYS[1]) end
for at = 4, #ARGV, 2 do redis.call('VADD', KEYS[1], 'FP32', ARGV[at], ARGV[at + 1], 'NOQUANT') end
local mark = ARGV[2] .. ' ' .. redis.call('VCARD', KEYS[1])
redis.call('SET', KEYS[2], mark)
return mark
