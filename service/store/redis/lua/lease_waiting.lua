-- KEYS facts, leases; ARGV identity, owner, milliseconds, the most leases,
--      'held': only leases that the owner has, or 'free': also those that nobody has
-- -> the positions of the leases that the owner has now

local granted = {}
for i = 2, #KEYS do
    if #granted == tonumber(ARGV[4]) then
        break
    end
    local owner = redis.call('GET', KEYS[i])
    if owner == ARGV[2] or (not owner and ARGV[5] == 'free') then
        redis.call('SET', KEYS[i], ARGV[2], 'PX', ARGV[3])
        granted[#granted + 1] = i - 1
    end
end
return granted
