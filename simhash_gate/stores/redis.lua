-- Does something to a scope that a caller knows in a state. ARGV: what to do; the last number and
-- the epoch that the caller knows and up to four numbers more; bytes, or any number of numbers.
--
-- KEYS[1] is a hash: "last" number, "first" number that may be there, "epoch"; of page n the body
-- under n, its mark under "m" n, and when it was seen last under "s" n, where that changed;
-- "expiry" in ms. KEYS[2] is a string: for each page 64 bytes in order, the number and what is
-- compared of it.
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
local pages, heads, operation = KEYS[1], KEYS[2], ARGV[1]
local kept = redis.call('HMGET', pages, 'last', 'first', 'epoch', 'expiry')
local last, first, epoch, expiry = kept[1] or '0', kept[2] or '0', kept[3] or '0', kept[4] or '0'
local known_last, known_epoch, one, two, three, four =
    string.match(ARGV[2], '(%S+) (%S+) ?(%S*) ?(%S*) ?(%S*) ?(%S*)')
local is_known = epoch == known_epoch

local function told(number, heads)
    return table.concat({number, last, first, epoch, heads}, ' ')
end

-- Numbers go up by one, and removing pages changes the epoch.
local function news()
    local new = tonumber(last) - tonumber(known_last)
    if is_known and new <= 0 then return '' end
    return redis.call('GETRANGE', heads, is_known and -SIZE * new or 0, -1)
end

local function expire(milliseconds)
    for _, key in ipairs(KEYS) do
        if milliseconds == '0' then
            redis.call('PERSIST', key)
        else
            redis.call('PEXPIRE', key, milliseconds)
        end
    end
end

local function trim(through)
    for n = tonumber(first), through do
        local gone = string.format('%.0f', n)
        redis.call('HDEL', pages, gone, 'm' .. gone, 's' .. gone)
    end
    first = string.format('%.0f', math.max(tonumber(first), through + 1))
    redis.call('HSET', pages, 'first', first)
    -- To cut the beginning off copies the rest: an eighth goes at a time.
    local oldest = struct.unpack('>I8', redis.call('GETRANGE', heads, 0, 7))
    if (through - oldest) * 8 * SIZE > redis.call('STRLEN', heads) then
        local old = redis.call('GETRANGE', heads, 0, (through - oldest + 1) * SIZE - 1)
        local at = #old
        while struct.unpack('>I8', old, at - SIZE + 1) > through do
            at = at - SIZE
        end
        redis.call('SET', heads, redis.call('GETRANGE', heads, at, -1), 'KEEPTTL')
    end
end

if operation == 'news' or operation == 'append' and not is_known then
    return told('0', news())
end

if operation == 'append' then  -- one: mark, two: last number that goes, three: a new epoch, four: ms until expiry
    local old_news = news()
    if last == '0' then
        if redis.call('EXISTS', pages) > 0 then
            return redis.error_reply('FOREIGN key of the name of a scope')
        end
        -- A server that lets keys go may have left it; one of another kind is an error here.
        if redis.call('GETRANGE', heads, 0, 0) ~= '' then
            redis.call('DEL', heads)
        end
        first, epoch = '1', three
        redis.call('HSET', pages, 'first', first, 'epoch', epoch)
    end
    last = string.format('%.0f', tonumber(last) + 1)
    redis.call('APPEND', heads, struct.pack('>I8', last) .. string.sub(ARGV[3], 1, SIZE - 8))
    redis.call('HSET', pages, last, string.sub(ARGV[3], SIZE - 7), 'last', last, 'expiry', four)
    if one ~= '0' then
        redis.call('HSET', pages, 'm' .. last, one)
    end
    if two ~= '0' and old_news == '' then
        trim(tonumber(two))
    end
    if four ~= '0' or expiry ~= '0' then
        expire(four)
    end
    return told(last, old_news)
end

if not is_known then return false end

if operation == 'trim' then
    trim(tonumber(one))
end

if operation == 'change' then  -- one: mark, two: when it was seen last, or -
    for n in string.gmatch(ARGV[3], '%d+') do
        local page = redis.call('HMGET', pages, n, 'm' .. n)
        if page[1] and tonumber(one) > tonumber(page[2] or 0) then
            redis.call('HSET', pages, 'm' .. n, one)
        end
        if page[1] and two ~= '-' then
            redis.call('HSET', pages, 's' .. n, two)
        end
    end
    if two ~= '-' and expiry ~= '0' then
        expire(expiry)
    end
end

if operation == 'remove' then  -- one: a new epoch
    local all, stay, gone = redis.call('GETRANGE', heads, 0, -1), {}, {}
    for n in string.gmatch(ARGV[3], '%d+') do
        redis.call('HDEL', pages, n, 'm' .. n, 's' .. n)
        gone[struct.pack('>I8', n)] = true
    end
    for at = 1, #all, SIZE do
        if not gone[string.sub(all, at, at + 7)] then
            stay[#stay + 1] = string.sub(all, at, at + SIZE - 1)
        end
    end
    local left = table.concat(stay)
    epoch = one
    if #left == 0 or struct.unpack('>I8', left, #left - SIZE + 1) < tonumber(first) then
        redis.call('DEL', pages, heads)
        last, first, epoch = '0', '0', '0'
    else
        redis.call('SET', heads, left, 'KEEPTTL')
        redis.call('HSET', pages, 'epoch', epoch)
    end
end
return told('0', '')
