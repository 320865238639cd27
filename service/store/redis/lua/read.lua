-- KEYS facts, events; ARGV identity, id to begin with, bytes, entries
-- -> entries, up to the first limit reached

local NO_MORE = '(18446744073709551615-18446744073709551615'  -- the server refuses this start
local entries, size, start = {}, 0, ARGV[2]
repeat
    if start == NO_MORE then
        break
    end
    local found = redis.call('XRANGE', KEYS[2], start, '+', 'COUNT', 1)[1]
    if not found then
        break
    end
    entries[#entries + 1] = found
    for _, value in ipairs(found[2]) do
        size = size + #value
    end
    start = '(' .. found[1]
until size >= tonumber(ARGV[3]) or #entries >= tonumber(ARGV[4])
return entries
