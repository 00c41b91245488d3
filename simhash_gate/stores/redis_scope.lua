-- A scope is one hash. Its fields:
--   "scope"                      how much there is: see HEAD
--   "1", "2", ...                the pages as the client packed them, numbered as they came
--   a table and an address in it a bucket: the number and fingerprint of every page that falls there
--
-- Few pages lie in one bucket, searched from end to end. More lie in four tables, one for each 16-bit
-- block of the fingerprint, the lowest block in table 1. The tables grow by a bucket each when the
-- pages do, so that no call does much work: linear hashing (Litwin, 1980).
--
-- Nothing is written before `save`, so that a call does all or nothing.

local key = KEYS[1]
local call = redis.call
local pack, parse = struct.pack, struct.unpack
local bxor = bit.bxor
local byte, char, find, rep, sub = string.byte, string.char, string.find, string.rep, string.sub
local floor, frexp = math.floor, math.frexp

local FORMAT = 1
local HEAD = '>I1I4I5I5I5I1' -- format, buckets a table, first and last number, pages, expires
local ENTRY, ENTRY_SIZE = '>I5I4I4', 13 -- number, high and low half of the fingerprint
local TABLES, LOAD, FEW, MOST_BUCKETS = 4, 8, 64, 65536
local ONLY_BUCKET = char(1, 0, 0)
local AT_ONCE = 500 -- values that fit on Lua's stack several times over

-- Where things are in a packed page.
local FINGERPRINT, RUN, DIGEST, FIRST_SEEN, LAST_SEEN, FLAGS, LENGTHS, TEXTS = 8, 16, 24, 32, 40, 48, 53, 69
local SETTLED, DURABLE = 1, 2

-- How many bits are set in each byte.
local ONES = '0112122312232334122323342334344512232334233434452334344534454556'
  .. '1223233423343445233434453445455623343445344545563445455645565667'
  .. '1223233423343445233434453445455623343445344545563445455645565667'
  .. '2334344534454556344545564556566734454556455656674556566756676778'

local scope
local stored, changed = {}, {}

-- The fields of the hash, each read once and written once.

local function fetch(fields)
  for start = 1, #fields, AT_ONCE do
    local stop = math.min(start + AT_ONCE - 1, #fields)
    local values = call('HMGET', key, unpack(fields, start, stop))
    for number = start, stop do
      if stored[fields[number]] == nil then stored[fields[number]] = values[number - start + 1] end
    end
  end
end

local function get(field)
  if stored[field] == nil then stored[field] = call('HGET', key, field) end
  return stored[field]
end

local function put(field, value)
  stored[field] = value
  changed[field] = true
end

local function halve()
  local _, exponent = frexp(scope.buckets)
  scope.half = 2 ^ (exponent - 1) -- the largest power of two up to `buckets`
end

local function open()
  local head = call('HGET', key, 'scope')
  scope = { buckets = 0, first = 1, last = 0, pages = 0, expires = 0 }
  if not head then
    if call('EXISTS', key) == 1 then error('FOREIGN') end
    return
  end
  local format
  format, scope.buckets, scope.first, scope.last, scope.pages, scope.expires = parse(HEAD, head)
  if format ~= FORMAT then error('FOREIGN') end
  halve()
end

local function save()
  if scope.pages == 0 then return call('DEL', key) end
  put('scope', pack(HEAD, FORMAT, scope.buckets, scope.first, scope.last, scope.pages, scope.expires))
  local set, gone = {}, {}
  for field in pairs(changed) do
    if stored[field] and stored[field] ~= '' then
      set[#set + 1], set[#set + 2] = field, stored[field]
    else
      gone[#gone + 1] = field
    end
  end
  -- Full memory refuses the first of these, before anything is done.
  for start = 1, #set, AT_ONCE do
    call('HSET', key, unpack(set, start, math.min(start + AT_ONCE - 1, #set)))
  end
  for start = 1, #gone, AT_ONCE do
    call('HDEL', key, unpack(gone, start, math.min(start + AT_ONCE - 1, #gone)))
  end
end

-- The index.

local function block_of(which, high, low)
  local half = which > 2 and high or low
  return which % 2 == 1 and half % 65536 or floor(half / 65536)
end

local function bucket_of(which, block)
  local place = block % (2 * scope.half)
  if place >= scope.buckets then place = block % scope.half end
  return char(which, floor(place / 256), place % 256)
end

local function buckets_of(high, low)
  if scope.buckets == 0 then return { ONLY_BUCKET } end
  local fields = {}
  for which = 1, TABLES do
    fields[which] = bucket_of(which, block_of(which, high, low))
  end
  return fields
end

-- Call `visit(number, high, low)` for each page in a bucket.
local function each(bucket, visit)
  for start = 1, bucket and #bucket or 0, AT_ONCE * ENTRY_SIZE do
    local count = math.min(AT_ONCE, (#bucket - start + 1) / ENTRY_SIZE)
    local values = { parse('>' .. rep('I5I4I4', count), bucket, start) }
    for at = 1, 3 * count, 3 do
      visit(values[at], values[at + 1], values[at + 2])
    end
  end
end

-- Put what lies in a bucket where it belongs now.
local function spread(which, field)
  local parts = { [field] = {} }
  each(get(field), function(number, high, low)
    local target = bucket_of(which, block_of(which, high, low))
    parts[target] = parts[target] or {}
    table.insert(parts[target], pack(ENTRY, number, high, low))
  end)
  for target, entries in pairs(parts) do
    put(target, table.concat(entries))
  end
end

local function grow()
  if scope.pages <= FEW or scope.pages <= LOAD * scope.buckets or scope.buckets == MOST_BUCKETS then
    return
  end
  if scope.buckets == 0 then
    scope.buckets = FEW / LOAD
    halve()
    local all = get(ONLY_BUCKET)
    for which = TABLES, 1, -1 do
      local field = char(which, 0, 0)
      put(field, all)
      spread(which, field)
    end
    return
  end
  local splits = scope.buckets - scope.half
  local fields = {}
  for which = 1, TABLES do
    fields[which] = char(which, floor(splits / 256), splits % 256)
  end
  fetch(fields)
  scope.buckets = scope.buckets + 1
  halve()
  for which = 1, TABLES do
    spread(which, fields[which])
  end
end

local function ones(value)
  local a = value % 256
  value = (value - a) / 256
  local b = value % 256
  value = (value - b) / 256
  local c = value % 256
  return byte(ONES, a + 1) + byte(ONES, b + 1) + byte(ONES, c + 1)
    + byte(ONES, (value - c) / 256 % 256 + 1) - 192 -- four times the code of '0'
end

-- Return the distance of each numbered page within `limit` bits that lies in one of the buckets.
local function search(fields, high, low, limit)
  local found = {}
  fetch(fields)
  for _, field in ipairs(fields) do
    each(stored[field], function(number, other_high, other_low)
      local distance = ones(bxor(high, other_high))
      if distance <= limit then
        distance = distance + ones(bxor(low, other_low))
        if distance <= limit then found[number] = distance end
      end
    end)
  end
  return found
end

-- The pages.

local function add(page)
  local high, low = parse('>I4I4', page, FINGERPRINT)
  scope.last = scope.last + 1
  scope.pages = scope.pages + 1
  put(scope.last, page)
  local fields = buckets_of(high, low)
  fetch(fields)
  for _, field in ipairs(fields) do
    put(field, (stored[field] or '') .. pack(ENTRY, scope.last, high, low))
  end
  grow()
end

local function remove(number)
  local high, low = parse('>I4I4', get(number), FINGERPRINT)
  local entry = pack(ENTRY, number, high, low)
  local fields = buckets_of(high, low)
  fetch(fields)
  for _, field in ipairs(fields) do
    local bucket = stored[field]
    local at = bucket and find(bucket, entry, 1, true)
    while at and (at - 1) % ENTRY_SIZE ~= 0 do
      at = find(bucket, entry, at + 1, true)
    end
    if at then put(field, sub(bucket, 1, at - 1) .. sub(bucket, at + ENTRY_SIZE)) end
  end
  put(number, false)
  scope.pages = scope.pages - 1
end

local function request_of(page)
  local length = parse('>I4', page, LENGTHS)
  return sub(page, TEXTS, TEXTS + length - 1), TEXTS + length
end

local function pipeline_of(page, start)
  return sub(page, start, start + parse('>I4', page, LENGTHS + 4) - 1)
end

-- What tells a page from every other of its scope: fingerprint, run and request.
local function identity_of(page)
  return sub(page, FINGERPRINT, DIGEST - 1) .. request_of(page)
end

local function has_flag(page, flag)
  return bit.band(byte(page, FLAGS), flag) ~= 0
end
