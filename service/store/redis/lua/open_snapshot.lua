-- KEYS facts, snapshots, chunks; ARGV identity, seq, milliseconds its chunks are kept for at least
-- -> manifest, nothing if there is none

local manifest = redis.call('HGET', KEYS[2], ARGV[2])
if manifest then
    local identity = string.match(manifest, '^%w*')
    local chunks = redis.call('HGET', KEYS[3], identity)
    if chunks then
        write_without_memory()
        redis.call('HSET', KEYS[3], identity,
            whole(math.max(number_of(chunks), now() + ARGV[3])) .. string.match(chunks, ' .*'))
    end
end
return manifest
