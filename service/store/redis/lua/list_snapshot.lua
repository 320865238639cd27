-- KEYS facts, events, snapshots, chunks, lease; ARGV identity, seq, manifest, identity of the snapshot,
-- its number of chunks, 1 to keep an existing one, place of the log the state was taken at or after,
-- 1 to write also without memory, 1 for the base of the history, lease as the process knows it
-- -> the manifest that is listed

if ARGV[8] == '1' then
    write_without_memory()
end
local listed = redis.call('HGET', KEYS[3], ARGV[2])
if listed and (listed == ARGV[3] or ARGV[6] == '1') then
    return listed
end
local seq = tonumber(ARGV[2])
if ARGV[9] == '1' then
    if redis.call('GET', KEYS[5]) ~= ARGV[10] then
        return redis.error_reply('NOLEASE another process leads')
    end
else
    local broken = place_error(seq, ARGV[7], KEYS[2])
    if broken then
        return redis.error_reply(broken)
    end
    if seq < tonumber(redis.call('HGET', KEYS[1], 'adopted') or 0) then
        return redis.error_reply('TRIMMED a rebuilt state took its place')
    end
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
