-- KEYS facts, lease, rebuilt; ARGV identity, lease as the process knows it, manifest, seq of the
-- last event that the process has applied
-- -> 0. A state that an event may still adopt stays: an event at the end of the log, which the
-- process has not applied, may be that one.

if redis.call('GET', KEYS[2]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
local manifest, adopted = unpack(redis.call('HMGET', KEYS[3], 'manifest', 'adopted'))
if manifest ~= ARGV[3] then
    return 0
end
if not adopted and tonumber(ARGV[4]) ~= seq_of(tail()) then
    return redis.error_reply('NOTLAST another event is the last one')
end
redis.call('DEL', KEYS[3])
return 0
