-- Functions of every script. On a server without memory, the first write of a script decides whether
-- it may write, and deleting an absent field is always allowed. Scripts that free memory, or that a
-- process needs before it can free memory, begin with write_without_memory().

local function write_without_memory()
    redis.call('HDEL', KEYS[1], '')
end

local function now()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(number)
    return string.format('%.0f', number)
end

local function number_of(text)
    return tonumber(string.match(text, '^%d+'))
end

local function seq_of(place)
    return number_of(place) % EPOCH
end

-- The newest epoch of the log, and the number of the last event before it.
local function epoch()
    local number, after = string.match(redis.call('HGET', KEYS[1], 'epoch') or '', '^(%d+) (%d+)$')
    return tonumber(number or 0), tonumber(after or 0)
end

local function tail()
    return redis.call('HGET', KEYS[1], 'tail')
end
