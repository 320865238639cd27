-- KEYS facts, lease, segments; ARGV identity, lease as the process knows it, last seq, entry
-- -> the entry that was there, nothing if there was none

if redis.call('GET', KEYS[2]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
write_without_memory()  -- the log is trimmed behind a listed segment, which makes room
local former = redis.call('HGET', KEYS[3], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[3], ARGV[4])
return former
