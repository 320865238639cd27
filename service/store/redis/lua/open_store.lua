-- KEYS facts, events; ARGV identity for a new store ('': there must be one), version
-- -> identity, version, tail, epoch

local facts = redis.call('HMGET', KEYS[1], 'identity', 'version', 'tail', 'epoch')
if not facts[1] then
    if ARGV[1] == '' then
        return redis.error_reply(REPLACED)
    end
    if redis.call('EXISTS', KEYS[2]) == 1 then
        return redis.error_reply('NOFACTS there are events of an unknown store')
    end
    redis.call('HSET', KEYS[1], 'identity', ARGV[1], 'version', ARGV[2], 'tail', '0-0',
        'epoch', '1 0', 'floor', '0', 'fence', '0')
    facts = {ARGV[1], ARGV[2], '0-0', '1 0'}
end
return facts
