-- KEYS facts, lease, segments; ARGV identity, lease as the process knows it, last seqs
-- -> 0

if redis.call('GET', KEYS[2]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
write_without_memory()
for i = 3, #ARGV do
    redis.call('HDEL', KEYS[3], ARGV[i])
end
return 0
