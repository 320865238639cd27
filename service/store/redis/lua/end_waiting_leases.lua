-- KEYS facts, leases; ARGV identity
-- -> 0

write_without_memory()
for i = 2, #KEYS do
    redis.call('DEL', KEYS[i])
end
return 0
