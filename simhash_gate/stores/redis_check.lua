-- Look for a page like this one; remember it if there is none. See `Store.check_and_add`.
--
-- ARGV: the page; what is asked for (see QUERY); the identities that are not compared.
-- Returns whether it was added, and the match with its distance if there is one.

-- Radius or -1, widest distance of a match, whether digests must agree, how many bits of each
-- table's block to flip (-1: leave the table out; ALL: visit every bucket), window, expiry in ms.
local QUERY = '>i1I1I1i1i1i1i1I8dI8'
local ALL = 127

local page = ARGV[1]
local radius, limit, exact, reach1, reach2, reach3, reach4, window, since, expiry = parse(QUERY, ARGV[2])
local high, low = parse('>I4I4', page, FINGERPRINT)
local request, after_request = request_of(page)
local pipeline = pipeline_of(page, after_request)

local function buckets_to_visit()
  if scope.buckets == 0 then return { ONLY_BUCKET } end
  local fields = {}
  if reach1 == ALL then
    for place = 0, scope.buckets - 1 do
      fields[place + 1] = char(1, floor(place / 256), place % 256)
    end
    return fields
  end
  local seen = {}
  local function visit(which, block, reach, bit_number)
    local field = bucket_of(which, block)
    if not seen[field] then
      seen[field] = true
      fields[#fields + 1] = field
    end
    for flipped = bit_number, reach > 0 and 15 or -1 do
      visit(which, bxor(block, 2 ^ flipped), reach - 1, flipped + 1)
    end
  end
  for which, reach in ipairs({ reach1, reach2, reach3, reach4 }) do
    if reach >= 0 then visit(which, block_of(which, high, low), reach, 0) end
  end
  return fields
end

local function first_of_window()
  if scope.pages <= window then return 0 end
  if window == 0 then return math.huge end
  local number = scope.last - window + 1
  if scope.last - scope.first + 1 == scope.pages then return number end
  local left = window
  for behind = scope.last, scope.first, -1 do
    left = left - call('HEXISTS', key, behind)
    if left == 0 then return behind end
  end
end

local function is_compared(other, refused)
  local other_request, after = request_of(other)
  return pipeline_of(other, after) == pipeline
    and (exact == 0 or sub(other, DIGEST, FIRST_SEEN - 1) == sub(page, DIGEST, FIRST_SEEN - 1))
    and parse('>d', other, FIRST_SEEN) >= since
    and not refused[sub(other, FINGERPRINT, DIGEST - 1) .. other_request]
end

-- Within the radius the same request goes first, then the least distance, then the latest; beyond
-- it the least distance, then the latest.
local function is_better(one, other)
  if one.class ~= other.class then return one.class < other.class end
  if one.distance ~= other.distance then return one.distance < other.distance end
  return one.number > other.number
end

local function best_match()
  local found = search(buckets_to_visit(), high, low, limit)
  local first = first_of_window()
  local numbers = {}
  for number in pairs(found) do
    if number >= first then numbers[#numbers + 1] = number end
  end
  if #numbers == 0 then return end
  fetch(numbers)
  local refused = {}
  for number = 3, #ARGV do
    refused[ARGV[number]] = true
  end
  local best
  for _, number in ipairs(numbers) do
    local other = stored[number]
    if other and is_compared(other, refused) then
      local class = found[number] > radius and 3 or request_of(other) == request and 1 or 2
      local match = { class = class, distance = found[number], number = number }
      if not best or is_better(match, best) then best = match end
    end
  end
  return best
end

local function see(number)
  local other = stored[number]
  if parse('>d', page, LAST_SEEN) > parse('>d', other, LAST_SEEN) then
    other = sub(other, 1, LAST_SEEN - 1) .. sub(page, LAST_SEEN, FLAGS - 1) .. sub(other, FLAGS)
    call('HSET', key, number, other)
  end
  return other
end

local function evict()
  while scope.pages > 0 do
    local oldest = get(scope.first)
    if oldest then
      if scope.pages <= window and parse('>d', oldest, FIRST_SEEN) >= since then return end
      remove(scope.first)
    end
    scope.first = scope.first + 1
  end
end

open()
local match = radius >= 0 and best_match()
if match and match.class < 3 then return { 0, see(match.number), match.distance } end

local time = call('TIME')
add(pack('>I7', time[1] * 1000000 + time[2]) .. sub(page, 8))
if scope.pages > window or expiry > 0 then evict() end
local expired = scope.expires
scope.expires = expiry > 0 and 1 or 0
save()
if expiry > 0 then
  call('PEXPIRE', key, expiry)
elseif expired == 1 then
  call('PERSIST', key)
end
return match and { 1, stored[match.number] or false, match.distance } or { 1 }
