-- Find pages by their identities, and forget them, mark them, see them, or return one as it is.
--
-- ARGV: "forget", "mark", "see" or "current"; the flags to set, or when they were seen; the identities.
-- Returns how many there were, or the page.

local operation, value = ARGV[1], tonumber(ARGV[2])

-- What tells a page from every other of its scope: fingerprint, run and request.
local function identity_of(page)
  return sub(page, FINGERPRINT, DIGEST - 1) .. request_of(page)
end

local function numbers_of(identity)
  local bucket = get((buckets_of(identity, 1))) or ''
  local numbers = {}
  for at = 1, #bucket, ENTRY_SIZE do
    if sub(bucket, at + 5, at + 12) == sub(identity, 1, 8) then
      local number = parse('>I5', bucket, at)
      if get(number) and identity_of(stored[number]) == identity then numbers[#numbers + 1] = number end
    end
  end
  return numbers
end

local function mark(number)
  local page = stored[number]
  local marked = string.char(bit.bor(string.byte(page, FLAGS), value))
  put(number, sub(page, 1, FLAGS - 1) .. marked .. sub(page, FLAGS + 1))
end

local function see(number)
  local page = stored[number]
  if parse('>d', page, LAST_SEEN) < value then
    put(number, sub(page, 1, LAST_SEEN - 1) .. pack('>d', value) .. sub(page, FLAGS))
  end
end

local change = { forget = remove, mark = mark, see = see }
if operation == 'current' then
  local numbers = numbers_of(ARGV[3])
  return #numbers > 0 and stored[math.max(unpack(numbers))]
end
local count = 0
for argument = 3, #ARGV do
  for _, number in ipairs(numbers_of(ARGV[argument])) do
    change[operation](number)
    count = count + 1
  end
end
if count > 0 then save() end
local lifetime = operation == 'see' and scope.expires == 1 and call('HGET', key, 'expiry')
if lifetime then call('PEXPIRE', key, lifetime) end
return count
