-- What runs know of the visits to the pages of a scope.
--
-- KEYS: a hash of entries by request, one after the other; a sorted set of requests by when the page
-- was visited last. ARGV: the operation, and what it takes.

local key, order = KEYS[1], KEYS[2]
local call, parse, sub = redis.call, struct.unpack, string.sub

-- An entry: the digest of its run, whether it is durable, when the page was seen, lengths of URL and
-- history; these two follow. Its mark is what tells it from the others of its page.
local ENTRY, HEAD, MARK, RUN = '>c8I1dI4I4', 25, 17, 8

-- Return the entries of a page as tables, oldest first.
local function read(value)
  local entries, at = {}, 1
  while at <= #value do
    local run, durable, seen, url, history = parse(ENTRY, value, at)
    local stop = at + HEAD + url + history
    entries[#entries + 1] =
      { run = run, durable = durable, seen = seen, mark = sub(value, at, at + MARK - 1), data = sub(value, at, stop - 1) }
    at = stop
  end
  return entries
end

local function write(request, entries)
  local data, seen = {}, nil
  for number, entry in ipairs(entries) do
    data[number] = entry.data
    seen = math.max(seen or entry.seen, entry.seen)
  end
  if not seen then
    call('HDEL', key, request)
    return call('ZREM', order, request)
  end
  call('HSET', key, request, table.concat(data))
  return call('ZADD', order, string.format('%.17g', seen), request)
end

-- Write what is left of a page without the entries for which `goes` says so.
local function remove(request, goes)
  local entries, left = read(call('HGET', key, request) or ''), {}
  for _, entry in ipairs(entries) do
    if not goes(entry) then left[#left + 1] = entry end
  end
  if #left < #entries then write(request, left) end
end

local operations = {}

-- Keep an entry in place of what its run kept; of more than `most` pages, those go that were visited
-- longest ago. Returns the marks of the entries of other runs.
function operations.keep(request, data, most)
  local new = read(data)[1]
  local left, others = {}, {}
  for _, entry in ipairs(read(call('HGET', key, request) or '')) do
    if entry.run ~= new.run then others[#others + 1] = entry.mark end
    if entry.run ~= new.run or entry.durable == 1 then left[#left + 1] = entry end
  end
  left[#left + 1] = new
  write(request, left)
  local surplus = call('ZCARD', order) - tonumber(most)
  if surplus > 0 then
    local popped = call('ZPOPMIN', order, surplus)
    for at = 1, #popped, 2 do
      call('HDEL', key, popped[at])
    end
  end
  return others
end

-- Remove entries by their marks.
function operations.drop(request, ...)
  local marks = {}
  for _, mark in ipairs({ ... }) do
    marks[mark] = true
  end
  remove(request, function(entry) return marks[entry.mark] end)
end

-- Let the last entry of a run count for all, in place of those before it.
function operations.durable(request, run)
  local left, last = {}, nil
  for _, entry in ipairs(read(call('HGET', key, request) or '')) do
    if entry.run == run then
      last = entry
    else
      left[#left + 1] = entry
    end
  end
  if last and last.durable == 0 then
    last.data = sub(last.data, 1, RUN) .. '\1' .. sub(last.data, RUN + 2)
    left[#left + 1] = last
    write(request, left)
  end
end

-- Remove the entries of a run; all of them, if it is "".
function operations.forget(request, run)
  remove(request, function(entry) return run == '' or entry.run == run end)
end

-- Remove some entries of a dead run, but for those that are durable; call again until the cursor is
-- "0". Returns the next cursor, and how many durable ones were seen.
function operations.bury(run, cursor)
  local scan, durable = call('HSCAN', key, cursor, 'COUNT', 200), 0
  for at = 1, #scan[2], 2 do
    if string.find(scan[2][at + 1], run, 1, true) then
      remove(scan[2][at], function(entry)
        if entry.run == run and entry.durable == 1 then durable = durable + 1 end
        return entry.run == run and entry.durable == 0
      end)
    end
  end
  return { scan[1], durable }
end

return operations[ARGV[1]](unpack(ARGV, 2))
