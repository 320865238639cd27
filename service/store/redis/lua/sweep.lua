-- KEYS facts, snapshots, chunks, rebuilt; ARGV identity, prefix of the keys of chunks, chunks at
-- once, 1 to free also those that a process writes or reads
-- -> 1 if there may be more to sweep

local listed = listed_chunks(KEYS[2], KEYS[4])
local time = now()
local chunks = redis.call('HGETALL', KEYS[3])
for i = 1, #chunks, 2 do
    local identity = chunks[i]
    local until_ms, count = string.match(chunks[i + 1], '^(%d+) (%d+)$')
    if not listed[identity] and (ARGV[4] == '1' or tonumber(until_ms) < time) then
        local rest = math.max(0, count - ARGV[3])
        for number = rest, count - 1 do
            redis.call('UNLINK', ARGV[2] .. identity .. ':' .. whole(number))
        end
        if rest > 0 then
            redis.call('HSET', KEYS[3], identity, until_ms .. ' ' .. whole(rest))
        else
            redis.call('HDEL', KEYS[3], identity)
        end
        return 1
    end
end
return 0
