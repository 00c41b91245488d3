-- Does something to a scope that a caller knows in a state. ARGV: what to do; the last number that
-- the caller knows, and how many removals; bytes, or any number of numbers; up to three values more.
--
-- KEYS[1] is a hash: under "state" the last number, the first one that may be there, the removals,
-- and the ms until the scope expires; under a page's number the page: its mark, when it was seen
-- last, what it gave (8 bytes), then its body. KEYS[2] is a string: for each page 32 bytes in order,
-- the number and what is compared of it.
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

if ARGV[1] == 'clock' then return redis.call('TIME') end

local SIZE = 32
local MARK_AND_SEEN = 9
local pages, heads, operation = KEYS[1], KEYS[2], ARGV[1]
local known_last, known_removals, data = tonumber(ARGV[2]), ARGV[3], ARGV[4]
local kept = redis.call('HGET', pages, 'state')
local last, first, removals, expiry = string.match(kept or '0 0 0 0', '(%d+) (%d+) (%d+) (%d+)')

local function keep()
    redis.call('HSET', pages, 'state', table.concat({last, first, removals, expiry}, ' '))
end

local function told(number, heads)
    return table.concat({number, last, first, removals, heads}, ' ')
end

-- Numbers go up by one, but for pages that were removed.
local function news()
    local new = tonumber(last) - known_last
    local continues = removals == known_removals and new >= 0
    if continues and new == 0 then return '' end
    return redis.call('GETRANGE', heads, continues and -SIZE * new or 0, -1)
end

local function expire()
    for _, key in ipairs(KEYS) do
        if expiry == '0' then
            redis.call('PERSIST', key)
        else
            redis.call('PEXPIRE', key, expiry)
        end
    end
end

local function trim(through)
    if through < tonumber(first) then return end
    for n = tonumber(first), through do
        redis.call('HDEL', pages, string.format('%.0f', n))
    end
    first = string.format('%.0f', through + 1)
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

if operation == 'news' or operation == 'append' and known_last == 0 and kept then
    return told('0', news())
end

if operation == 'append' then  -- then the last number that goes, and the ms until expiry
    local expired, old_news = expiry ~= ARGV[6], news()
    if last == '0' then
        if redis.call('EXISTS', pages) > 0 then
            return redis.error_reply('FOREIGN key of the name of a scope')
        end
        -- A server that lets keys go may have left it; one of another kind is an error here.
        if redis.call('GETRANGE', heads, 0, 0) ~= '' then
            redis.call('DEL', heads)
        end
        -- A scope that was emptied has no number again.
        local now = redis.call('TIME')
        last = string.format('%d%06d', now[1], now[2])
        first = string.format('%.0f', tonumber(last) + 1)
    end
    last, expiry = string.format('%.0f', tonumber(last) + 1), ARGV[6]
    redis.call('APPEND', heads, struct.pack('>I8', last) .. string.sub(data, 1, SIZE - 8))
    redis.call('HSET', pages, last, string.sub(data, SIZE - 7))
    if old_news == '' then trim(tonumber(ARGV[5])) end
    keep()
    if expired or expiry ~= '0' then
        expire()
    end
    return told(last, old_news)
end

if operation == 'trim' and kept then
    trim(tonumber(ARGV[5]))
    keep()
end

if operation == 'change' then  -- then the mark, when they were seen last, what they gave or ''
    local mark, seen = tonumber(ARGV[5]), tonumber(ARGV[6])
    for n in string.gmatch(data, '%d+') do
        local page = redis.call('HGET', pages, n)
        if page then
            local its_mark, its_seen = struct.unpack('>Bd', page)
            local changed = struct.pack('>Bd', bit.bor(mark, its_mark), math.max(seen, its_seen))
            local rest = string.sub(page, MARK_AND_SEEN + #ARGV[7] + 1)
            redis.call('HSET', pages, n, changed .. ARGV[7] .. rest)
        end
    end
    if kept and ARGV[6] ~= '-inf' and expiry ~= '0' then
        expire()
    end
end

if operation == 'remove' and kept then
    local all, stay, gone = redis.call('GETRANGE', heads, 0, -1), {}, {}
    for n in string.gmatch(data, '%d+') do
        redis.call('HDEL', pages, n)
        gone[struct.pack('>I8', n)] = true
    end
    for at = 1, #all, SIZE do
        if not gone[string.sub(all, at, at + 7)] then
            stay[#stay + 1] = string.sub(all, at, at + SIZE - 1)
        end
    end
    local left = table.concat(stay)
    if #left == 0 or struct.unpack('>I8', left, #left - SIZE + 1) < tonumber(first) then
        redis.call('DEL', pages, heads)
        last, first, removals = '0', '0', '0'
    else
        removals = string.format('%d', removals + 1)
        redis.call('SET', heads, left, 'KEEPTTL')
        keep()
    end
end
return told('0', '')
