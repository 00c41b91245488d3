-- Texts of pages, within a budget.
--
-- KEYS: a hash of texts, a sorted set of their names by when they were seen last, how many bytes they
-- have. ARGV: the operation, and what it takes. A name is a digest and a scope.

local texts, order, size = KEYS[1], KEYS[2], KEYS[3]
local call = redis.call

local operations = {}

function operations.forget(name)
  local bytes = call('HSTRLEN', texts, name)
  call('HDEL', texts, name)
  call('ZREM', order, name)
  local left = call('DECRBY', size, bytes)
  if left <= 0 then call('DEL', size) end
  return left
end

-- Keep a text; the oldest go until all are `budget` bytes or less.
function operations.keep(name, data, at, budget)
  local before = call('HSTRLEN', texts, name)
  call('HSET', texts, name, data)
  call('ZADD', order, 'GT', at, name)
  local total = call('INCRBY', size, #data - before)
  while total > tonumber(budget) do
    local oldest = call('ZRANGE', order, 0, 0)[1]
    if not oldest then return end
    total = operations.forget(oldest)
  end
end

-- Return some texts, from a place on: of each its name, when it was seen last, and its size.
function operations.list(start, stop)
  local found = call('ZRANGE', order, start, stop, 'WITHSCORES')
  local listed = {}
  for at = 1, #found, 2 do
    listed[#listed + 1] = { found[at], found[at + 1], call('HSTRLEN', texts, found[at]) }
  end
  return listed
end

return operations[ARGV[1]](unpack(ARGV, 2))
