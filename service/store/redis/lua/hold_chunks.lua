-- KEYS facts, chunks; ARGV identity, identity of the snapshot, milliseconds its chunks are kept for
-- at least; 0: as long as other readers need them

local chunks = redis.call('HGET', KEYS[2], ARGV[2])
if chunks then
    write_without_memory()
    local until_ms = ARGV[3] == '0' and 0 or math.max(number_of(chunks), now() + ARGV[3])
    redis.call('HSET', KEYS[2], ARGV[2], whole(until_ms) .. string.match(chunks, ' .*'))
end
return 0
