-- Record in a stream that something was deleted from it, so that it is rewritten.
--
-- KEYS  1 stream
redis.call('XDEL', KEYS[1], redis.call('XADD', KEYS[1], '*', 'event', ''))
