-- KEYS facts, lease, processes, snapshots, chunks, rebuilt; ARGV identity, process, seq or '', lease
-- in ms, version of the rules, 1 if it may lead, prefix of the keys of mailboxes
-- -> tail, holder of the lease, manifests by seq, processes, 1 if there is something to sweep, 1 if
-- the server has no memory for an append

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
redis.call('HSET', KEYS[3], ARGV[2], whole(time) .. ' ' .. ARGV[5] .. ' ' .. ARGV[3])
local processes = redis.call('HGETALL', KEYS[3])
local alive = {}
for i = 1, #processes, 2 do
    if math.abs(time - number_of(processes[i + 1])) > tonumber(ARGV[4]) then  -- clocks go back too
        redis.call('HDEL', KEYS[3], processes[i])
        redis.call('UNLINK', ARGV[7] .. processes[i])
    else
        alive[#alive + 1] = processes[i]
        alive[#alive + 1] = processes[i + 1]
    end
end
local manifests = redis.call('HGETALL', KEYS[4])
local listed = listed_chunks(KEYS[4], KEYS[6])
local sweep = 0
local chunks = redis.call('HGETALL', KEYS[5])
for i = 1, #chunks, 2 do
    if not listed[chunks[i]] and number_of(chunks[i + 1]) < time then
        sweep = 1
    end
end
return {tail(), holder or '', manifests, alive, sweep, full and 1 or 0}
