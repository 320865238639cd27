-- KEYS facts, chunks, chunk; ARGV identity, identity of the snapshot, number, milliseconds it is
-- kept for at least, body, 1 to write also without memory

if ARGV[6] == '1' then
    write_without_memory()
end
if ARGV[3] ~= '0' and redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then
    return redis.error_reply('SWEPT its first chunks were given up')
end
redis.call('SET', KEYS[3], ARGV[5])
local known = redis.call('HGET', KEYS[2], ARGV[2]) or '0 0'  -- this one may have come late
local count = math.max(ARGV[3] + 1, tonumber(string.match(known, ' (%d+)$')))
redis.call('HSET', KEYS[2], ARGV[2], whole(now() + ARGV[4]) .. ' ' .. whole(count))
return 0
