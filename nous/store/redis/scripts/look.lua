-- KEYS: a set, its watermark. Returns the watermark ("" for none) and the set's size in one atomic read.
return {redis.call('GET', KEYS[2]) or '', redis.call('VCARD', KEYS[1])}
