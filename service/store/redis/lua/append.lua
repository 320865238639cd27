-- KEYS facts, events, rebuilt, append record; ARGV identity, number, nonce, count, record seconds,
-- head, body, seq it comes right after or '', manifest of the rebuilt state that it adopts or ''
-- -> last seq. A number is appended once, and never after a later one: a late append of an earlier
-- connection is refused.
-- If foreign entries have taken the next places, the log goes on in a later epoch.

local facts = redis.call('HMGET', KEYS[1], 'identity', 'tail')
if facts[1] ~= ARGV[1] then
    return redis.error_reply(REPLACED)
end
local record = redis.call('GET', KEYS[4])
if record then
    local number, last_seq = string.match(record, '^(%d+) (%d+)$')
    if tonumber(number) == tonumber(ARGV[2]) then
        redis.call('EXPIRE', KEYS[4], ARGV[5])  -- a write, so that a WAIT after it covers it
        return last_seq
    elseif tonumber(number) > tonumber(ARGV[2]) then
        return redis.error_reply('STALE a later append was first')
    end
end
if ARGV[8] ~= '' and tonumber(ARGV[8]) ~= seq_of(facts[2]) then
    return redis.error_reply('NOTLAST another event is the last one')
end
if ARGV[9] ~= '' and redis.call('HGET', KEYS[3], 'manifest') ~= ARGV[9] then
    return redis.error_reply('NOREBUILT the rebuilt state is gone')
end
local last_seq = whole(seq_of(facts[2]) + ARGV[4])
local number = epoch()
local place
local function add()
    place = whole(number * EPOCH + last_seq) .. '-' .. ARGV[3]
    return redis.pcall('XADD', KEYS[2], place, 'after', ARGV[1] .. ' ' .. facts[2],
        'head', ARGV[6], 'body', ARGV[7])
end
local added = add()
if added.err and (string.find(added.err, 'equal or smaller', 1, true)
        or string.find(added.err, 'exhausted', 1, true)) then
    local stream = redis.call('XINFO', 'STREAM', KEYS[2])
    for i = 1, #stream, 2 do
        if stream[i] == 'last-generated-id' then
            number = math.floor(number_of(stream[i + 1]) / EPOCH) + 1
        end
    end
    if number > LAST_EPOCH then
        return redis.error_reply('FOREIGN the stream has a foreign entry with the highest id')
    end
    added = add()
    if not added.err then
        redis.call('HSET', KEYS[1], 'epoch', whole(number) .. ' ' .. whole(seq_of(facts[2])))
    end
end
if added.err then
    return added
end
redis.call('HSET', KEYS[1], 'tail', place)
if ARGV[9] ~= '' then
    redis.call('HSET', KEYS[3], 'adopted', last_seq)
    redis.call('HSET', KEYS[1], 'adopted', last_seq)
end
redis.call('SET', KEYS[4], ARGV[2] .. ' ' .. last_seq, 'EX', ARGV[5])
return last_seq
