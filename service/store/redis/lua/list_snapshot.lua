-- KEYS facts, events, snapshots, chunks; ARGV identity, seq, manifest, identity of the snapshot,
-- its number of chunks, 1 to keep an existing one, place of the log the state was taken at or after,
-- 1 to write also without memory
-- -> the manifest that is listed

if ARGV[8] == '1' then
    write_without_memory()
end
local listed = redis.call('HGET', KEYS[3], ARGV[2])
if listed and (listed == ARGV[3] or ARGV[6] == '1') then
    return listed
end
local floor = tonumber(redis.call('HGET', KEYS[1], 'floor'))
local seq = tonumber(ARGV[2])
if seq < floor then
    return redis.error_reply('TRIMMED the log was trimmed beyond it')
end
local place = ARGV[7]
if place ~= '' and place ~= tail() and seq_of(place) > floor
        and #redis.call('XRANGE', KEYS[2], place, place) == 0 then
    return redis.error_reply('REWOUND the log is not the one it was taken from')
end
if ARGV[5] ~= '0' and redis.call('HEXISTS', KEYS[4], ARGV[4]) == 0 then
    return redis.error_reply('SWEPT its chunks were given up')
end
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
if ARGV[5] ~= '0' then
    redis.call('HSET', KEYS[4], ARGV[4], '0 ' .. ARGV[5])
end
if seq > seq_of(tail()) then
    redis.call('HSET', KEYS[1], 'tail', whole(epoch() * EPOCH + seq) .. '-0')
end
return ARGV[3]
