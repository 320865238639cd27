-- KEYS facts, events, lease, chunks, rebuilt; ARGV identity, lease as the process knows it, seq,
-- manifest, identity of the chunks, their number, plan, place of the log the state was taken at or
-- after
-- -> 0

if redis.call('GET', KEYS[3]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
local manifest = redis.call('HGET', KEYS[5], 'manifest')
if manifest == ARGV[4] then  -- the answer to the first time was lost
    return 0
elseif manifest then
    return redis.error_reply('UNSETTLED a rebuilt state is not settled yet')
end
local broken = place_error(tonumber(ARGV[3]), ARGV[8], KEYS[2])
if broken then
    return redis.error_reply(broken)
end
if redis.call('HEXISTS', KEYS[4], ARGV[5]) == 0 then
    return redis.error_reply('SWEPT its chunks were given up')
end
redis.call('HSET', KEYS[5], 'seq', ARGV[3], 'manifest', ARGV[4], 'plan', ARGV[7])
redis.call('HSET', KEYS[4], ARGV[5], '0 ' .. ARGV[6])
return 0
