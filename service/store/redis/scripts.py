"""What the server does in one step each: Lua scripts, for Redis 6.2 and later, and Valkey.

All keys of a service begin with {name}, so that a cluster keeps them on one server:

    {name}:facts       identity | version | tail | epoch | floor | fence | confirmed
                       identity: made once, tells this store from any other of the same name
                       tail: the id of the newest entry of the log, see redis_entry.py; a snapshot
                             newer than the log makes it "<place of its seq>-0"
                       epoch: "<epoch> <last seq before it>" of the entries to come, see
                              redis_entry.py
                       floor: no event up to it is needed any more
                       fence: how often the lease was taken
                       confirmed: how often a process asked replicas for all that was written
    {name}:events      the log: a stream, see redis_entry.py
    {name}:append:P    "<number> <last seq>" of the newest append of process P, for a day
    {name}:lease       "<token> <process>" of the one that leads, for some seconds
    {name}:processes   process -> "<seen at, in ms> <seq, or nothing>"
    {name}:rules       process -> version of the rules of learning it has; releases before that do
                       not tell, and read no more than two words in {name}:processes
    {name}:mail:P      letters to process P: a stream, for a minute
    {name}:snapshots   seq -> manifest, see redis_manifest.py
    {name}:chunks      identity of a snapshot -> "<in use until, in ms> <number of chunks>", of all
                       of which there may be chunks, listed or not
    {name}:chunk:I:N   chunk N of the snapshot with identity I

Nothing here depends on the clock or the chance of a client: what is random comes as an argument,
and the time is the server's.
"""

from dataclasses import dataclass, field
from hashlib import sha1

from manyclass.service.store.redis.entry import EPOCH, LAST_EPOCH

# The first write of a script decides whether a server without memory left lets it write. Deleting
# what is not there is always let through. What frees memory, or is needed to come to that, begins
# so; anything else would be refused until somebody helps by hand.
_COMMON = (
    f"""
local REPLACED = 'REPLACED the store was emptied or replaced'
local EPOCH = {EPOCH}
local LAST_EPOCH = {LAST_EPOCH}
"""
    + """

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
"""
)


# Every script is told which store it is meant for.
_GUARD = """
if redis.call('HGET', KEYS[1], 'identity') ~= ARGV[1] then
    return redis.error_reply(REPLACED)
end
"""


@dataclass(frozen=True, slots=True)
class Script:
    """A script by its text, and by the name the server knows it by once it has seen it.

    Its first key is that of the facts, its first argument the identity of the store it is for.
    """

    text: str
    sha: str = field(init=False)
    opens: bool = False  # it finds out the identity, or makes it

    def __post_init__(self) -> None:
        guard = "" if self.opens else _GUARD
        object.__setattr__(self, "text", _COMMON + guard + self.text)
        object.__setattr__(self, "sha", sha1(self.text.encode()).hexdigest())


# KEYS facts, events; ARGV identity for a new store ('': there must be one), version
# -> identity, version, tail, epoch
OPEN_STORE = Script(
    """
local facts = redis.call('HMGET', KEYS[1], 'identity', 'version', 'tail', 'epoch')
if not facts[1] then
    if ARGV[1] == '' then
        return redis.error_reply(REPLACED)
    end
    if redis.call('EXISTS', KEYS[2]) == 1 then
        return redis.error_reply('NOFACTS there are events of an unknown store')
    end
    redis.call('HSET', KEYS[1], 'identity', ARGV[1], 'version', ARGV[2], 'tail', '0-0',
        'epoch', '1 0', 'floor', '0', 'fence', '0')
    facts = {ARGV[1], ARGV[2], '0-0', '1 0'}
end
return facts
""",
    opens=True,
)

# KEYS facts, events, append record; ARGV identity, number, nonce, count, record seconds, head,
# body, seq it comes right after or ''
# -> last seq. The same number lands once, and never after a later one: what an earlier connection
# still brings is refused.
# Foreign entries may have taken the places that come next: then the log goes on in a later epoch,
# which only releases that know version 2 of the store can read.
APPEND = Script("""
local facts = redis.call('HMGET', KEYS[1], 'identity', 'tail')
if facts[1] ~= ARGV[1] then
    return redis.error_reply(REPLACED)
end
local record = redis.call('GET', KEYS[3])
if record then
    local number, last_seq = string.match(record, '^(%d+) (%d+)$')
    if tonumber(number) == tonumber(ARGV[2]) then
        redis.call('EXPIRE', KEYS[3], ARGV[5])  -- a write, so that a WAIT after it covers it
        return last_seq
    elseif tonumber(number) > tonumber(ARGV[2]) then
        return redis.error_reply('STALE a later append was first')
    end
end
if ARGV[8] ~= '' and tonumber(ARGV[8]) ~= seq_of(facts[2]) then
    return redis.error_reply('NOTLAST another event is the last one')
end
local last_seq = whole(seq_of(facts[2]) + ARGV[4])
local number = epoch()
local place
local function add()
    place = whole(number * EPOCH + last_seq) .. '-' .. ARGV[3]
    return redis.pcall('XADD', KEYS[2], place, 'after', ARGV[1] .. ' ' .. facts[2],
        'head', ARGV[6], 'body', ARGV[7])
end
local added = add()
if added.err and (string.find(added.err, 'equal or smaller', 1, true)
        or string.find(added.err, 'exhausted', 1, true)) then
    local stream = redis.call('XINFO', 'STREAM', KEYS[2])
    for i = 1, #stream, 2 do
        if stream[i] == 'last-generated-id' then
            number = math.floor(number_of(stream[i + 1]) / EPOCH) + 1
        end
    end
    if number > LAST_EPOCH then
        return redis.error_reply('FOREIGN the stream has a foreign entry with the highest id')
    end
    added = add()
    if not added.err then
        redis.call('HSET', KEYS[1], 'epoch', whole(number) .. ' ' .. whole(seq_of(facts[2])),
            'version', '2')
    end
end
if added.err then
    return added
end
redis.call('HSET', KEYS[1], 'tail', place)
redis.call('SET', KEYS[3], ARGV[2] .. ' ' .. last_seq, 'EX', ARGV[5])
return last_seq
""")

# KEYS facts; ARGV identity
# A write, so that a WAIT after it covers everything before it.
CONFIRM = Script("""
redis.call('HINCRBY', KEYS[1], 'confirmed', 1)
return 0
""")

# KEYS facts, events; ARGV identity, id to begin with, bytes, entries
# -> entries, as many as make that many bytes, or are that many
READ = Script("""
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
""")

# KEYS facts, lease, processes, snapshots, chunks, rules; ARGV identity, process, seq or '', lease
# in ms, version of the rules, 1 if it may lead
# -> tail, holder of the lease, manifests by seq, processes, rules of processes, 1 if there is
# something to sweep, 1 if the server has no memory for an append
BEAT = Script("""
local tried = redis.pcall('HSETNX', KEYS[1], 'identity', '')  -- it is there: nothing changes
local full = type(tried) == 'table' and tried.err and string.find(tried.err, 'OOM', 1, true)
write_without_memory()
local time = now()
local holder = redis.call('GET', KEYS[2])
if holder and string.match(holder, ' (.*)') == ARGV[2] then
    if ARGV[6] == '1' then
        redis.call('PEXPIRE', KEYS[2], ARGV[4])
    else
        redis.call('DEL', KEYS[2])
        holder = false
    end
elseif not holder and ARGV[3] ~= '' and ARGV[6] == '1' then
    holder = redis.call('HINCRBY', KEYS[1], 'fence', 1) .. ' ' .. ARGV[2]
    redis.call('SET', KEYS[2], holder, 'PX', ARGV[4])
end
redis.call('HSET', KEYS[3], ARGV[2], whole(time) .. ' ' .. ARGV[3])
redis.call('HSET', KEYS[6], ARGV[2], ARGV[5])
local processes = redis.call('HGETALL', KEYS[3])
local alive = {}
local rules = redis.call('HGETALL', KEYS[6])
for i = 1, #rules, 2 do
    if redis.call('HEXISTS', KEYS[3], rules[i]) == 0 then
        redis.call('HDEL', KEYS[6], rules[i])
    end
end
for i = 1, #processes, 2 do
    if math.abs(time - number_of(processes[i + 1])) > tonumber(ARGV[4]) then  -- clocks go back too
        redis.call('HDEL', KEYS[3], processes[i])
    else
        alive[#alive + 1] = processes[i]
        alive[#alive + 1] = processes[i + 1]
    end
end
local manifests = redis.call('HGETALL', KEYS[4])
local listed = {}
for i = 2, #manifests, 2 do
    listed[string.match(manifests[i], '^%w*')] = true
end
local sweep = 0
local chunks = redis.call('HGETALL', KEYS[5])
for i = 1, #chunks, 2 do
    if not listed[chunks[i]] and number_of(chunks[i + 1]) < time then
        sweep = 1
    end
end
return {tail(), holder or '', manifests, alive, rules, sweep, full and 1 or 0}
""")

# KEYS facts, lease, processes; ARGV identity, process
LEAVE = Script("""
redis.call('HDEL', KEYS[3], ARGV[2])
local holder = redis.call('GET', KEYS[2])
if holder and string.match(holder, ' (.*)') == ARGV[2] then
    redis.call('DEL', KEYS[2])
end
return 0
""")

# KEYS facts, processes, mailboxes...; ARGV identity, sender, letters kept, mailbox seconds,
# process and body of each letter. Nobody else's mailbox is opened for who is not there to read it.
POST = Script("""
for i = 5, #ARGV, 2 do
    if redis.call('HEXISTS', KEYS[2], ARGV[i]) == 1 then
        local mailbox = KEYS[(i + 1) / 2]
        redis.call('XADD', mailbox, 'MAXLEN', '~', ARGV[3], '*', 'from', ARGV[2],
            'body', ARGV[i + 1])
        redis.call('EXPIRE', mailbox, ARGV[4])
    end
end
return 0
""")

# KEYS facts, events, lease, processes, snapshots; ARGV identity, lease as the process knows it,
# seq, events at once
# -> 1 if there is more to trim.
# Whatever a process believes: what no snapshot holds stays, and what a live process needs.
TRIM = Script("""
if redis.call('GET', KEYS[3]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
local newest = -1
for _, seq in ipairs(redis.call('HKEYS', KEYS[5])) do
    newest = math.max(newest, tonumber(seq))
end
local target = math.min(tonumber(ARGV[3]), seq_of(tail()), newest)
for _, seen in ipairs(redis.call('HVALS', KEYS[4])) do  -- a beat of the leader removes the dead
    target = math.min(target, tonumber(string.match(seen, ' (%d+)$')) or 0)
end
local floor = tonumber(redis.call('HGET', KEYS[1], 'floor'))
if target <= floor then
    return 0
end
local number, after = epoch()
if target < after then  -- an earlier epoch goes as a whole
    return 0
end
local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
local upto = target
if first then
    upto = math.min(target, math.max(floor, after, seq_of(first[1])) + ARGV[4])
end
redis.call('XTRIM', KEYS[2], 'MINID', '=', whole(number * EPOCH + upto + 1))
redis.call('HSET', KEYS[1], 'floor', whole(upto))
return upto < target and 1 or 0
""")

# KEYS facts, chunks, chunk; ARGV identity, identity of the snapshot, number, milliseconds it is
# kept for at least, body, 1 to write also without memory
PUT_CHUNK = Script("""
if ARGV[6] == '1' then
    write_without_memory()
end
if ARGV[3] ~= '0' and redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then
    return redis.error_reply('SWEPT its first chunks were given up')
end
redis.call('SET', KEYS[3], ARGV[5])
local known = redis.call('HGET', KEYS[2], ARGV[2]) or '0 0'  -- this one may have come late
local count = math.max(ARGV[3] + 1, tonumber(string.match(known, ' (%d+)$')))
redis.call('HSET', KEYS[2], ARGV[2], whole(now() + ARGV[4]) .. ' ' .. whole(count))
return 0
""")

# KEYS facts, events, snapshots, chunks; ARGV identity, seq, manifest, identity of the snapshot,
# its number of chunks, 1 to keep an existing one, place of the log the state was taken at or after,
# 1 to write also without memory
# -> the manifest that is listed
LIST_SNAPSHOT = Script("""
if ARGV[8] == '1' then
    write_without_memory()
end
local listed = redis.call('HGET', KEYS[3], ARGV[2])
if listed and (listed == ARGV[3] or ARGV[6] == '1') then
    return listed
end
local floor = tonumber(redis.call('HGET', KEYS[1], 'floor'))
local seq = tonumber(ARGV[2])
if seq < floor then
    return redis.error_reply('TRIMMED the log was trimmed beyond it')
end
local place = ARGV[7]
if place ~= '' and place ~= tail() and seq_of(place) > floor
        and #redis.call('XRANGE', KEYS[2], place, place) == 0 then
    return redis.error_reply('REWOUND the log is not the one it was taken from')
end
if ARGV[5] ~= '0' and redis.call('HEXISTS', KEYS[4], ARGV[4]) == 0 then
    return redis.error_reply('SWEPT its chunks were given up')
end
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
if ARGV[5] ~= '0' then
    redis.call('HSET', KEYS[4], ARGV[4], '0 ' .. ARGV[5])
end
if seq > seq_of(tail()) then
    redis.call('HSET', KEYS[1], 'tail', whole(epoch() * EPOCH + seq) .. '-0')
end
return ARGV[3]
""")

# KEYS facts, snapshots; ARGV identity -> manifests by seq
LISTED = Script("""
return redis.call('HGETALL', KEYS[2])
""")

# KEYS facts, snapshots, chunks; ARGV identity, seq, milliseconds its chunks are kept for at least
# -> manifest, nothing if there is none
OPEN_SNAPSHOT = Script("""
local manifest = redis.call('HGET', KEYS[2], ARGV[2])
if manifest then
    local identity = string.match(manifest, '^%w*')
    local chunks = redis.call('HGET', KEYS[3], identity)
    if chunks then
        write_without_memory()
        redis.call('HSET', KEYS[3], identity,
            whole(math.max(number_of(chunks), now() + ARGV[3])) .. string.match(chunks, ' .*'))
    end
end
return manifest
""")

# KEYS facts, chunks; ARGV identity, identity of the snapshot, milliseconds its chunks are kept for
# at least; 0: no more than others need them
HOLD_CHUNKS = Script("""
local chunks = redis.call('HGET', KEYS[2], ARGV[2])
if chunks then
    write_without_memory()
    local until_ms = ARGV[3] == '0' and 0 or math.max(number_of(chunks), now() + ARGV[3])
    redis.call('HSET', KEYS[2], ARGV[2], whole(until_ms) .. string.match(chunks, ' .*'))
end
return 0
""")

# KEYS facts, lease, snapshots; ARGV identity, lease as the process knows it, seq, manifest
# The second time it does nothing.
# What cannot be replayed without this snapshot is not taken away, whatever a process believes.
DELETE_SNAPSHOT = Script("""
if redis.call('GET', KEYS[2]) ~= ARGV[2] then
    return redis.error_reply('NOLEASE another process leads')
end
if redis.call('HGET', KEYS[3], ARGV[3]) ~= ARGV[4] then
    return 0
end
local floor = tonumber(redis.call('HGET', KEYS[1], 'floor'))
local needed = floor > 0
for _, seq in ipairs(redis.call('HKEYS', KEYS[3])) do
    if seq ~= ARGV[3] and tonumber(seq) >= floor then
        needed = false
    end
end
if needed then
    return redis.error_reply('NEEDED the log without it begins too late')
end
redis.call('HDEL', KEYS[3], ARGV[3])
return 0
""")

# KEYS facts, snapshots, chunks; ARGV identity, how the key of a chunk begins, chunks at once
# -> 1 if there may be more to sweep
SWEEP = Script("""
local listed = {}
for _, manifest in ipairs(redis.call('HVALS', KEYS[2])) do
    listed[string.match(manifest, '^%w*')] = true
end
local time = now()
local chunks = redis.call('HGETALL', KEYS[3])
for i = 1, #chunks, 2 do
    local identity = chunks[i]
    local until_ms, count = string.match(chunks[i + 1], '^(%d+) (%d+)$')
    if not listed[identity] and tonumber(until_ms) < time then
        local rest = math.max(0, count - ARGV[3])
        for number = rest, count - 1 do
            redis.call('UNLINK', ARGV[2] .. identity .. ':' .. whole(number))
        end
        if rest > 0 then
            redis.call('HSET', KEYS[3], identity, until_ms .. ' ' .. whole(rest))
        else
            redis.call('HDEL', KEYS[3], identity)
        end
        return 1
    end
end
return 0
""")
