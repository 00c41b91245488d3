-- Look for a page like this one; if there is one, this is all. See `Store.check_and_add`.
--
-- ARGV: the page; what is asked for (see QUERY); the identities that are not compared.
-- Returns whether the page was added (a byte), and for a match its distance (a byte) and its page.

-- Radius or -1, widest distance of a match, whether digests must agree, how many bits of each
-- table's block to flip (-1: leave the table out; ALL: visit every bucket), window, expiry in ms.
local QUERY = '>i1I1I1i1i1i1i1I8dI8'
local ALL = 127

local page = ARGV[1]
local radius, limit, exact, reach1, reach2, reach3, reach4, window, since, expiry = parse(QUERY, ARGV[2])
local high, low = parse('>I4I4', page, FINGERPRINT)
local found = {} -- the distances of the pages that were come across
local own, owned -- the page's own buckets, and what lies there: if nothing else was looked at

local function ones(bits)
  local right = bits % 65536
  return string.byte(ONES, right + 1) + string.byte(ONES, (bits - right) / 65536 % 65536 + 1) - 2 * 48
end

local function consider(bucket, at)
  local number, its_high, its_low = parse(ENTRY, bucket, at)
  if found[number] then return end
  local distance = ones(bit.bxor(high, its_high))
  if distance <= limit then
    distance = distance + ones(bit.bxor(low, its_low))
    if distance <= limit then found[number] = distance end
  end
end

if radius >= 0 and (scope.buckets == 0 or (reach1 == 0 and reach4 == 0)) then
  own = { buckets_of(page, FINGERPRINT) }
  owned = call('HMGET', key, unpack(own))
end
if own and own[2] then
  -- Who is within the radius agrees with the page in one block at least.
  local find = string.find
  for which = 1, 4 do
    local bucket = owned[which]
    if bucket then
      local place = FINGERPRINT + 8 - 2 * which
      local block = sub(page, place, place + 1)
      place = ENTRY_SIZE + 1 - 2 * which
      local at = find(bucket, block, place, true)
      while at do
        if (at - place) % ENTRY_SIZE == 0 then consider(bucket, at - place + 1) end
        at = find(bucket, block, at + 1, true)
      end
    end
  end
elseif own then
  for at = 1, #(owned[1] or ''), ENTRY_SIZE do
    consider(owned[1], at)
  end
elseif radius >= 0 then
  local fields, seen = {}, {}
  local function visit(which, block, reach, from)
    local field = bucket_of(which, block)
    if not seen[field] then
      seen[field] = true
      fields[#fields + 1] = field
    end
    for flipped = from, reach > 0 and 15 or -1 do
      visit(which, bit.bxor(block, 2 ^ flipped), reach - 1, flipped + 1)
    end
  end
  if reach1 == ALL then
    for place = 0, scope.buckets - 1 do
      visit(1, place, 0, 0)
    end
  else
    local blocks = { parse(BLOCKS, page, FINGERPRINT) }
    for which, reach in ipairs({ reach1, reach2, reach3, reach4 }) do
      if reach >= 0 then visit(which, blocks[5 - which], reach, 0) end
    end
  end
  for start = 1, #fields, AT_ONCE do
    local buckets = call('HMGET', key, unpack(fields, start, math.min(start + AT_ONCE - 1, #fields)))
    for _, bucket in ipairs(buckets) do
      for at = 1, #(bucket or ''), ENTRY_SIZE do
        consider(bucket, at)
      end
    end
  end
end

-- The best goes first: within the radius one with the same request, then one whose sketch begins with
-- the same key, then with the half of it that stands for the name, then the least distance, then the
-- latest; beyond it the least distance, then the latest.
local NAME, BEYOND = 4, 5
local function key_of(page, start)
  for place = 4, 12, 4 do
    start = start + parse('>I4', page, LENGTHS + place)
  end
  return sub(page, start, start + 7)
end
local best, best_class, match
if next(found) then
  local first = 0 -- of the window
  if scope.pages > window then
    first = scope.last + 1
    local left = window
    while left > 0 do
      first = first - 1
      left = left - call('HEXISTS', key, first)
    end
  end
  local numbers, refused = {}, {}
  for number in pairs(found) do
    if number >= first then numbers[#numbers + 1] = number end
  end
  for number = 3, #ARGV do
    refused[ARGV[number]] = true
  end
  local request, start = request_of(page)
  local pipeline = sub(page, start, start + parse('>I4', page, LENGTHS + 4) - 1)
  local own_key = key_of(page, start)
  for from = 1, #numbers, AT_ONCE do
    local others = call('HMGET', key, unpack(numbers, from, math.min(from + AT_ONCE - 1, #numbers)))
    for place, other in ipairs(others) do
      local number = numbers[from + place - 1]
      local distance = found[number]
      local its_request, its_start
      if other then
        its_request, its_start = request_of(other)
      end
      if
        other
        and sub(other, its_start, its_start + parse('>I4', other, LENGTHS + 4) - 1) == pipeline
        and (exact == 0 or sub(other, DIGEST, FIRST_SEEN - 1) == sub(page, DIGEST, FIRST_SEEN - 1))
        and parse('>d', other, LAST_SEEN) >= since
        and not (ARGV[3] and refused[sub(other, FINGERPRINT, DIGEST - 1) .. its_request])
      then
        local class = distance > radius and BEYOND or its_request == request and 1
        if not class then
          local its_key = key_of(other, its_start)
          class = its_key == own_key and 2 or sub(its_key, 1, NAME) == sub(own_key, 1, NAME) and 3 or 4
        end
        if
          not best
          or class < best_class
          or class == best_class
            and (distance < found[best] or distance == found[best] and number > best)
        then
          best, best_class, match = number, class, other
        end
      end
    end
  end
end

local answer = '\1'
if best then
  local beyond = best_class == BEYOND
  if best_class == 1 and parse('>d', page, LAST_SEEN) > parse('>d', match, LAST_SEEN) then
    match = sub(match, 1, LAST_SEEN - 1) .. sub(page, LAST_SEEN, FLAGS - 1) .. sub(match, FLAGS)
    call('HSET', key, best, match)
    local lifetime = scope.expires == 1 and call('HGET', key, 'expiry')
    if lifetime then call('PEXPIRE', key, lifetime) end
  end
  answer = string.char(beyond and 1 or 0, found[best]) .. match
  if not beyond then return answer end
end
