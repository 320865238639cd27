-- KEYS facts; ARGV identity, ballast (not read: it takes the memory that an append would)
-- A write, so that a WAIT after it covers everything before it.

redis.call('HINCRBY', KEYS[1], 'confirmed', 1)
return 0
