-- Does something to a scope in the state in which the caller knows it; else tells what is new.
--
-- KEYS[1] is a hash: "last" number, "first" number that may be there, "epoch"; of page n the body
-- under n, its mark under "m" n, and when it was seen last under "s" n, where that changed;
-- "expiry" in ms. KEYS[2] is a string: for each page 64 bytes in order, the number and what is
-- compared of it. ARGV: last, epoch, operation, and what the operation needs.
--
-- Of blobs, KEYS are two hashes, of the data and of what is told about them. ARGV: 'swap', a key,
-- '1' if the data must be those that follow, the data and what is told, the seconds to keep them.
if ARGV[1] == 'swap' then
    local there = redis.call('HGET', KEYS[1], ARGV[2]) or ''
    if ARGV[3] == '1' and there ~= ARGV[4] then return there end
    for number, key in ipairs(KEYS) do
        if ARGV[5] == '' then
            redis.call('HDEL', key, ARGV[2])
        else
            redis.call('HSET', key, ARGV[2], ARGV[4 + number])
            if ARGV[7] ~= '0' then redis.call('EXPIRE', key, ARGV[7]) end
        end
    end
    return false
end

local SIZE = 64
local pages, heads = KEYS[1], KEYS[2]
local known = redis.call('HMGET', pages, 'last', 'first', 'epoch')
local last, first, epoch = known[1] or '0', known[2] or '0', known[3] or '0'

if last ~= ARGV[1] or epoch ~= ARGV[2] then
    local from = 0
    if epoch == ARGV[2] and tonumber(last) > tonumber(ARGV[1]) then
        from = -SIZE * (tonumber(last) - tonumber(ARGV[1]))
    end
    return {last, first, epoch, redis.call('GETRANGE', heads, from, -1)}
end

local operation = ARGV[3]

if operation == 'load' then
    local found = {}
    for at = 4, #ARGV do
        local n = ARGV[at]
        found[#found + 1] = redis.call('HMGET', pages, n, 'm' .. n, 's' .. n)
    end
    return {found}
end

if operation == 'change' then
    for at = 6, #ARGV do
        local n = ARGV[at]
        if tonumber(ARGV[4]) > tonumber(redis.call('HGET', pages, 'm' .. n) or 0) then
            redis.call('HSET', pages, 'm' .. n, ARGV[4])
        end
        if ARGV[5] ~= '' then
            redis.call('HSET', pages, 's' .. n, ARGV[5])
        end
    end
    local expiry = ARGV[5] ~= '' and redis.call('HGET', pages, 'expiry')
    if expiry and expiry ~= '0' then
        redis.call('PEXPIRE', pages, expiry)
        redis.call('PEXPIRE', heads, expiry)
    end
    return {'done'}
end

if operation == 'remove' then  -- ARGV[4] is the new epoch, ARGV[5] how many bytes stay in `heads`
    for at = 7, #ARGV do
        local n = ARGV[at]
        redis.call('HDEL', pages, n, 'm' .. n, 's' .. n)
    end
    if ARGV[5] == '0' then
        redis.call('DEL', pages, heads)
        return {'0', '0'}
    end
    redis.call('SET', heads, ARGV[6], 'KEEPTTL')
    redis.call('HSET', pages, 'epoch', ARGV[4])
    return {last, ARGV[4]}
end

-- append: ARGV[4] the head, [5] the body, [6] the mark, [7] the last number that goes, [8] an epoch
-- for a new scope, [9] the milliseconds after which the scope vanishes, 0 for never
local number = tonumber(last) + 1
if last == '0' then
    if redis.call('EXISTS', pages) > 0 then
        return redis.error_reply('FOREIGN key of the name of a scope')
    end
    -- A server that lets keys go may have left it; one of another kind is an error here.
    if redis.call('GETRANGE', heads, 0, 0) ~= '' then
        redis.call('DEL', heads)
    end
    redis.call('HSET', pages, 'first', '1', 'epoch', ARGV[8])
    epoch = ARGV[8]
end
local size = redis.call('APPEND', heads, struct.pack('>I8', number) .. ARGV[4])
local name = string.format('%.0f', number)
redis.call('HSET', pages, name, ARGV[5], 'last', name, 'expiry', ARGV[9])
if ARGV[6] ~= '0' then
    redis.call('HSET', pages, 'm' .. name, ARGV[6])
end
local through = tonumber(ARGV[7])
if through > 0 then
    for n = tonumber(first), through do
        local gone = string.format('%.0f', n)
        redis.call('HDEL', pages, gone, 'm' .. gone, 's' .. gone)
    end
    redis.call('HSET', pages, 'first', string.format('%.0f', through + 1))
    -- To cut the beginning off copies the rest: an eighth goes at a time.
    local oldest = struct.unpack('>I8', redis.call('GETRANGE', heads, 0, 7))
    if (through - oldest) * 8 * SIZE > size then
        local old = redis.call('GETRANGE', heads, 0, (through - oldest + 1) * SIZE - 1)
        local at = #old
        while struct.unpack('>I8', old, at - SIZE + 1) > through do
            at = at - SIZE
        end
        redis.call('SET', heads, redis.call('GETRANGE', heads, at, -1))
    end
end
for _, key in ipairs(KEYS) do
    if ARGV[9] == '0' then
        redis.call('PERSIST', key)
    else
        redis.call('PEXPIRE', key, ARGV[9])
    end
end
return {name, epoch}
