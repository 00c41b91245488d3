-- Pages come and go: nothing is written before `save`, so that a call does all or nothing.

local stored = {} -- the fields of the hash as they were read, or will be; false for none
local changed = {}

local function fetch(...)
  for place, value in ipairs(call('HMGET', key, ...)) do
    local field = select(place, ...)
    if stored[field] == nil then stored[field] = value end
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

local function save()
  if scope.pages == 0 then return call('DEL', key) end
  put('scope', pack(HEAD, FORMAT, scope.buckets, scope.first, scope.last, scope.pages, scope.expires))
  local set, gone = {}, {}
  for field in pairs(changed) do
    local value = stored[field]
    if value and value ~= '' then
      set[#set + 1], set[#set + 2] = field, value
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

-- Put what lies in a bucket where it belongs now.
local function spread(which, field)
  local bucket = get(field) or ''
  local block = ENTRY_SIZE - 2 * which -- where in an entry
  local parts = { [field] = '' } -- what stays is written even if it is nothing
  for at = 1, #bucket, ENTRY_SIZE do
    local target = bucket_of(which, (parse('>I2', bucket, at + block)))
    parts[target] = (parts[target] or '') .. sub(bucket, at, at + ENTRY_SIZE - 1)
  end
  for target, together in pairs(parts) do
    put(target, together)
  end
end

local function grow()
  local splits = 0
  if scope.buckets == 0 then
    scope.buckets, scope.half = FEW / LOAD, FEW / LOAD
    for which = 2, 4 do
      put(string.char(which, 0, 0), get(ONLY_BUCKET))
    end
  else
    splits = scope.buckets - scope.half
    scope.buckets = scope.buckets + 1
    if scope.buckets == 2 * scope.half then scope.half = scope.buckets end
  end
  local fields = {}
  for which = 1, 4 do
    fields[which] = string.char(which, math.floor(splits / 256), splits % 256)
  end
  fetch(unpack(fields))
  for which, field in ipairs(fields) do
    spread(which, field)
  end
end

local function add(page)
  scope.last = scope.last + 1
  scope.pages = scope.pages + 1
  put(scope.last, page)
  local entry = entry_of(page, scope.last)
  for _, field in ipairs({ buckets_of(page, FINGERPRINT) }) do
    put(field, (get(field) or '') .. entry)
  end
  if crowded(scope.pages) then grow() end
end

local function remove(number)
  local page = get(number)
  local entry = entry_of(page, number)
  local fields = { buckets_of(page, FINGERPRINT) }
  fetch(unpack(fields))
  for _, field in ipairs(fields) do
    local bucket = stored[field] or ''
    local at = string.find(bucket, entry, 1, true)
    while at and (at - 1) % ENTRY_SIZE ~= 0 do
      at = string.find(bucket, entry, at + 1, true)
    end
    if at then put(field, sub(bucket, 1, at - 1) .. sub(bucket, at + ENTRY_SIZE)) end
  end
  put(number, false)
  scope.pages = scope.pages - 1
end
