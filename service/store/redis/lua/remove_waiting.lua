-- KEYS facts, waiting, waiting-heads, leases; ARGV identity, ids
-- -> 0

write_without_memory()
for i = 2, #ARGV do
    redis.call('HDEL', KEYS[2], ARGV[i])
    redis.call('HDEL', KEYS[3], ARGV[i])
    redis.call('DEL', KEYS[i + 2])
end
return 0
