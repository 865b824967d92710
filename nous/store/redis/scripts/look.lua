-- KEYS: a set, its mark. Returns the mark, "" for none, and the set's size, both as they are at one moment.
return {redis.call('GET', KEYS[2]) or '', redis.call('VCARD', KEYS[1])}
