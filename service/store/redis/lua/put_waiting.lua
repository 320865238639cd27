-- KEYS facts, waiting, waiting-heads; ARGV identity, then id, head and body of each instance
-- -> 0

for i = 2, #ARGV, 3 do
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
    redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
return 0
