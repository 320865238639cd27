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
    local number, after = string.match(redis.call('HGET', KEYS[1], 'epoch'), '^(%d+) (%d+)$')
    return tonumber(number), tonumber(after)
end

local function tail()
    return redis.call('HGET', KEYS[1], 'tail')
end

-- Return the identities of the chunks of all snapshots, and of the rebuilt state.
local function listed_chunks(snapshots, rebuilt)
    local listed = {}
    for _, manifest in ipairs(redis.call('HVALS', snapshots)) do
        listed[string.match(manifest, '^%w*')] = true
    end
    local manifest = redis.call('HGET', rebuilt, 'manifest')
    if manifest then
        listed[string.match(manifest, '^%w*')] = true
    end
    return listed
end

-- Return the reason why a state taken at this place of the log cannot be listed, or nothing.
local function place_error(seq, place, events)
    local floor = tonumber(redis.call('HGET', KEYS[1], 'floor'))
    if seq < floor then
        return 'TRIMMED the log was trimmed beyond it'
    end
    if place ~= '' and place ~= tail() and seq_of(place) > floor
            and #redis.call('XRANGE', events, place, place) == 0 then
        return 'REWOUND the log is not the one it was taken from'
    end
end

-- Keep the chunks of a manifest for so many milliseconds at least.
local function hold_chunks(chunks, manifest, milliseconds)
    local identity = string.match(manifest, '^%w*')
    local held = redis.call('HGET', chunks, identity)
    if held then
        write_without_memory()
        redis.call('HSET', chunks, identity,
            whole(math.max(number_of(held), now() + milliseconds)) .. string.match(held, ' .*'))
    end
end
