-- KEYS facts, snapshots; ARGV identity -> manifests by seq

return redis.call('HGETALL', KEYS[2])
