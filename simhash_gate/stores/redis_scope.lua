-- A scope is one hash. Its fields:
--   "scope"                      how much there is: see HEAD
--   "1", "2", ...                the pages as the client packed them, numbered as they came
--   a table and an address in it a bucket: number and fingerprint of every page that falls there
--
-- Few pages lie in one bucket, searched from end to end. More lie in four tables, one for each 16-bit
-- block of the fingerprint, the lowest block in table 1.
--
-- ONES, a string that the client puts in front, has the number of set bits of each 16-bit value, as
-- its code above that of "0". What a call has no need of comes after it has returned: a script makes
-- its functions anew in each call.

local key = KEYS[1]
local parse, sub = struct.unpack, string.sub

local FORMAT = 1
local HEAD = '>I1I4I5I5I5I1' -- format, buckets a table, first and last number, pages, expires
local ENTRY, ENTRY_SIZE = 'I5I4I4', 13 -- number, high and low half of the fingerprint
local AT_ONCE = 500 -- values that fit on Lua's stack several times over
local ONLY_BUCKET = '\1\0\0'

-- Where things are in a packed page.
local FINGERPRINT, RUN, DIGEST, FIRST_SEEN, LAST_SEEN, FLAGS, LENGTHS, TEXTS = 8, 16, 24, 32, 40, 48, 53, 69

-- `half` is the largest power of two up to `buckets`.
local scope = { buckets = 0, half = 0, first = 1, last = 0, pages = 0, expires = 0 }
local stored = {} -- the fields of the hash that were read; false for none

local head = redis.call('HGET', key, 'scope')
if head then
  local format
  format, scope.buckets, scope.first, scope.last, scope.pages, scope.expires = parse(HEAD, head)
  if format ~= FORMAT then error('FOREIGN') end
  local _, exponent = math.frexp(scope.buckets)
  scope.half = 2 ^ (exponent - 1)
elseif redis.call('EXISTS', key) == 1 then
  error('FOREIGN')
end

local function fetch(fields)
  for start = 1, #fields, AT_ONCE do
    local stop = math.min(start + AT_ONCE - 1, #fields)
    local values = redis.call('HMGET', key, unpack(fields, start, stop))
    for number = start, stop do
      if stored[fields[number]] == nil then stored[fields[number]] = values[number - start + 1] end
    end
  end
end

-- Return the number of the entries in a part of a bucket, and their values in one list.
local function entries(bucket, start)
  local count = math.min(AT_ONCE, (#bucket - start + 1) / ENTRY_SIZE)
  return count, { parse('>' .. string.rep(ENTRY, count), bucket, start) }
end

-- Return the 16-bit blocks of a fingerprint, the lowest first.
local function blocks_of(high, low)
  local first, third = low % 65536, high % 65536
  return { first, (low - first) / 65536, third, (high - third) / 65536 }
end

-- Linear hashing (Litwin, 1980): the tables grow by one bucket after the other, so that no call does
-- much work. An address beyond the last bucket is that of the one it will be split from.
local function bucket_of(which, block)
  local place = block % (2 * scope.half)
  if place >= scope.buckets then place = block % scope.half end
  local right = place % 256
  return string.char(which, (place - right) / 256, right)
end

local function buckets_of(high, low)
  if scope.buckets == 0 then return { ONLY_BUCKET } end
  local fields = blocks_of(high, low)
  for which = 1, 4 do
    fields[which] = bucket_of(which, fields[which])
  end
  return fields
end

-- Return the distance of each numbered page within `limit` bits that lies in one of the buckets.
local function search(fields, high, low, limit)
  local bxor, byte = bit.bxor, string.byte
  local widest = limit + 2 * 48
  local found = {}
  fetch(fields)
  local buckets = {}
  for number, field in ipairs(fields) do
    buckets[number] = stored[field] or ''
  end
  local all = table.concat(buckets)
  for start = 1, #all, AT_ONCE * ENTRY_SIZE do
    local count, values = entries(all, start)
    for at = 1, 3 * count, 3 do
      local bits = bxor(high, values[at + 1])
      local right = bits % 65536
      local distance = byte(ONES, right + 1) + byte(ONES, (bits - right) / 65536 % 65536 + 1)
      if distance <= widest then
        bits = bxor(low, values[at + 2])
        right = bits % 65536
        distance = distance - 4 * 48
          + byte(ONES, right + 1) + byte(ONES, (bits - right) / 65536 % 65536 + 1)
        if distance <= limit then found[values[at]] = distance end
      end
    end
  end
  return found
end

local function request_of(page)
  local stop = TEXTS + parse('>I4', page, LENGTHS)
  return sub(page, TEXTS, stop - 1), stop
end
