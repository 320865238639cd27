-- KEYS facts, events, lease, processes, snapshots, rebuilt; ARGV identity, lease as the process knows it,
-- seq, events at once
-- -> 1 if there is more to trim. Events that no snapshot has, that a live process needs, or
-- that follow a rebuilt state which is not settled, stay.

if redis.call('GET', KEYS[3]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
local newest = -1
for _, seq in ipairs(redis.call('HKEYS', KEYS[5])) do
    newest = math.max(newest, tonumber(seq))
end
local target = math.min(tonumber(ARGV[3]), seq_of(tail()), newest)
for _, seen in ipairs(redis.call('HVALS', KEYS[4])) do  -- the leader's heartbeat removes the dead
    target = math.min(target, tonumber(string.match(seen, ' (%d+)$')) or 0)
end
target = math.min(target, tonumber(redis.call('HGET', KEYS[6], 'seq')) or target)
local floor = tonumber(redis.call('HGET', KEYS[1], 'floor'))
if target <= floor then
    return 0
end
local number, after = epoch()
if target < after then  -- an earlier epoch goes as a whole
    return 0
end
local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
local upto = target
if first then
    upto = math.min(target, math.max(floor, after, seq_of(first[1])) + ARGV[4])
end
redis.call('XTRIM', KEYS[2], 'MINID', '=', whole(number * EPOCH + upto + 1))
redis.call('HSET', KEYS[1], 'floor', whole(upto))
return upto < target and 1 or 0
