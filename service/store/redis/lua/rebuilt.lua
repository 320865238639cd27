-- KEYS facts, rebuilt, chunks; ARGV identity, milliseconds its chunks are kept for at least
-- -> seq, manifest, plan, seq of the event that adopted it; nothing if there is no rebuilt state

local manifest = redis.call('HGET', KEYS[2], 'manifest')
if not manifest then
    return false
end
hold_chunks(KEYS[3], manifest, ARGV[2])
return redis.call('HMGET', KEYS[2], 'seq', 'manifest', 'plan', 'adopted')
