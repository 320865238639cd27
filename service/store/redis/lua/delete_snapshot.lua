-- KEYS facts, lease, snapshots; ARGV identity, lease as the process knows it, seq, manifest
-- The second time it does nothing. A snapshot without which the log cannot be replayed stays.

if redis.call('GET', KEYS[2]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
if redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[4] then
    return 0
end
local floor = tonumber(redis.call('HGET', KEYS[1], 'floor'))
local needed = floor > 0
for _, seq in ipairs(redis.call('HKEYS', KEYS[3])) do
    if seq ~= ARGV[3] and tonumber(seq) >= floor then
        needed = false
    end
end
if needed then
    return redis.error_reply('NEEDED the log without it begins too late')
end
redis.call('HDEL', KEYS[3], ARGV[3])
return 0
