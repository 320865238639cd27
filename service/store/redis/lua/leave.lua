-- KEYS facts, lease, processes; ARGV identity, process, prefix of the keys of mailboxes

redis.call('HDEL', KEYS[3], ARGV[2])
redis.call('UNLINK', ARGV[3] .. ARGV[2])
local holder = redis.call('GET', KEYS[2])
if holder and string.match(holder, ' (.*)') == ARGV[2] then
    redis.call('DEL', KEYS[2])
end
return 0
