-- KEYS facts, snapshots, chunks; ARGV identity, seq, milliseconds its chunks are kept for at least
-- -> manifest, nothing if there is none

local manifest = redis.call('HGET', KEYS[2], ARGV[2])
if manifest then
    hold_chunks(KEYS[3], manifest, ARGV[3])
end
return manifest
