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

local function buckets_within_reach()
  local fields = {}
  if reach1 == ALL then
    for place = 0, scope.buckets - 1 do
      fields[place + 1] = string.char(1, math.floor(place / 256), place % 256)
    end
    return fields
  end
  local seen = {}
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
  local blocks = blocks_of(high, low)
  for which, reach in ipairs({ reach1, reach2, reach3, reach4 }) do
    if reach >= 0 then visit(which, blocks[which], reach, 0) end
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
    left = left - redis.call('HEXISTS', key, behind)
    if left == 0 then return behind end
  end
end

-- Of pages with their distances, return the best: within the radius the same request goes first, then
-- the least distance, then the latest; beyond it the least distance, then the latest.
local function best_of(found)
  local first = first_of_window()
  local numbers, refused = {}, {}
  for number in pairs(found) do
    if number >= first then numbers[#numbers + 1] = number end
  end
  fetch(numbers)
  for number = 3, #ARGV do
    refused[ARGV[number]] = true
  end
  local request, start = request_of(page)
  local pipeline = sub(page, start, start + parse('>I4', page, LENGTHS + 4) - 1)
  local digest = sub(page, DIGEST, FIRST_SEEN - 1)
  local best, best_class
  for _, number in ipairs(numbers) do
    local other = stored[number]
    if other then
      local other_request, other_start = request_of(other)
      local length = parse('>I4', other, LENGTHS + 4)
      if
        sub(other, other_start, other_start + length - 1) == pipeline
        and (exact == 0 or sub(other, DIGEST, FIRST_SEEN - 1) == digest)
        and parse('>d', other, FIRST_SEEN) >= since
        and not (next(refused) and refused[identity_of(other)])
      then
        local distance = found[number]
        local class = distance > radius and 3 or other_request == request and 1 or 2
        if
          not best
          or class < best_class
          or class == best_class
            and (distance < found[best] or distance == found[best] and number > best)
        then
          best, best_class = number, class
        end
      end
    end
  end
  return best, best_class == 3
end

local answer = '\1'
if radius >= 0 then
  local own_suffice = scope.buckets == 0 or reach1 == 0 and reach4 == 0
  local fields = own_suffice and buckets_of(high, low) or buckets_within_reach()
  local found = search(fields, high, low, limit)
  if next(found) then
    local best, beyond = best_of(found)
    if best then
      local match = stored[best]
      if not beyond and parse('>d', page, LAST_SEEN) > parse('>d', match, LAST_SEEN) then
        match = sub(match, 1, LAST_SEEN - 1) .. sub(page, LAST_SEEN, FLAGS - 1) .. sub(match, FLAGS)
        redis.call('HSET', key, best, match)
      end
      answer = string.char(beyond and 1 or 0, found[best]) .. match
      if not beyond then return answer end
    end
  end
end
