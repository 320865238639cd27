-- KEYS facts, segments; ARGV identity
-- -> entries by last seq, the event up to which the log was trimmed

return {redis.call('HGETALL', KEYS[2]), redis.call('HGET', KEYS[1], 'floor')}
