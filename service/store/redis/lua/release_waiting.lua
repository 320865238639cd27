-- KEYS facts, leases; ARGV identity, owner
-- -> 0

write_without_memory()
for i = 2, #KEYS do
    if redis.call('GET', KEYS[i]) == ARGV[2] then
        redis.call('DEL', KEYS[i])
    end
end
return 0
