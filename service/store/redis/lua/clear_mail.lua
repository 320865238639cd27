-- KEYS facts, processes, mailboxes...; ARGV identity, prefix of the keys of mailboxes, the newest
-- message to delete of each of these mailboxes
-- -> process and newest message of each mailbox that has messages then

write_without_memory()
for i = 3, #KEYS do
    redis.call('XTRIM', KEYS[i], 'MINID', '=', ARGV[i])
    redis.call('XDEL', KEYS[i], ARGV[i])
end
local found = {}
for _, process in ipairs(redis.call('HKEYS', KEYS[2])) do
    local newest = redis.call('XREVRANGE', ARGV[2] .. process, '+', '-', 'COUNT', 1)[1]
    if newest then
        found[#found + 1] = process
        found[#found + 1] = newest[1]
    end
end
return found
