-- KEYS facts, processes, mailboxes...; ARGV identity, sender, messages kept, mailbox seconds,
-- process and body of each message. A process that is not alive gets no mailbox.

for i = 5, #ARGV, 2 do
    if redis.call('HEXISTS', KEYS[2], ARGV[i]) == 1 then
        local mailbox = KEYS[(i + 1) / 2]
        redis.call('XADD', mailbox, 'MAXLEN', '~', ARGV[3], '*', 'from', ARGV[2],
            'body', ARGV[i + 1])
        redis.call('EXPIRE', mailbox, ARGV[4])
    end
end
return 0
