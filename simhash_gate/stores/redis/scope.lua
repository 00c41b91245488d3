-- A scope is one hash. Its fields:
--   "scope"                      how much there is: see HEAD
--   "expiry"                     in ms, if it expires: so long after a page was added or seen
--   "1", "2", ...                the pages as the client packed them, numbered as they came
--   a table and an address in it a bucket: number and fingerprint of every page that falls there
--
-- Few pages lie in one bucket, searched from end to end. More lie in four tables, one for each 16-bit
-- block of the fingerprint, the lowest block in table 1.
--
-- ONES, a string that the client puts in front, has the number of set bits of each 16-bit value, as
-- its code above that of "0". Whatever a script makes costs it twice, once to make and once to sweep
-- away: what a call has no need of comes after it has returned, its functions too, and what is read
-- is taken apart in place.

local key = KEYS[1]
local call, pack, parse, sub = redis.call, struct.pack, struct.unpack, string.sub

local FORMAT = 1
local HEAD = '>I1I4I5I5I5I1' -- format, buckets a table, first and last number, pages, expires
local ENTRY, ENTRY_SIZE = '>I5I4I4', 13 -- number, high and low half of the fingerprint
local BLOCKS = '>I2I2I2I2' -- of a fingerprint, the highest first
local AT_ONCE = 500 -- values that fit on Lua's stack several times over
local LOAD, FEW, MOST_BUCKETS = 4, 32, 65536 -- pages a bucket, pages in one bucket
local ONLY_BUCKET = '\1\0\0'

-- Where things are in a packed page.
local FINGERPRINT, RUN, DIGEST, FIRST_SEEN, LAST_SEEN, FLAGS, LENGTHS, TEXTS = 8, 16, 24, 32, 40, 48, 53, 69

-- `half` is the largest power of two up to `buckets`.
local scope = { buckets = 0, half = 0, first = 1, last = 0, pages = 0, expires = 0 }

local head = call('HGET', key, 'scope')
if head then
  local format
  format, scope.buckets, scope.first, scope.last, scope.pages, scope.expires = parse(HEAD, head)
  if format ~= FORMAT then error('FOREIGN') end
  local _, exponent = math.frexp(scope.buckets)
  scope.half = 2 ^ (exponent - 1)
elseif call('EXISTS', key) == 1 then
  error('FOREIGN')
end

-- Linear hashing (Litwin, 1980): the tables grow by one bucket after the other, so that no call does
-- much work. An address beyond the last bucket is that of the one it will be split from.
local function bucket_of(which, block)
  local place = block % (2 * scope.half)
  if place >= scope.buckets then place = block % scope.half end
  local right = place % 256
  return string.char(which, (place - right) / 256, right)
end

-- Return the field of each table's bucket for the fingerprint that is found at a place in a string.
local function buckets_of(text, at)
  if scope.buckets == 0 then return ONLY_BUCKET end
  local fourth, third, second, first = parse(BLOCKS, text, at)
  return bucket_of(1, first), bucket_of(2, second), bucket_of(3, third), bucket_of(4, fourth)
end

-- Return the request of a page, and where its pipeline version begins.
local function request_of(page)
  local stop = TEXTS + parse('>I4', page, LENGTHS)
  return sub(page, TEXTS, stop - 1), stop
end

local function entry_of(page, number)
  return pack('>I5', number) .. sub(page, FINGERPRINT, RUN - 1)
end

-- Tell whether there are too many pages for the buckets.
local function crowded(pages)
  return pages > math.max(FEW, LOAD * scope.buckets) and scope.buckets < MOST_BUCKETS
end
