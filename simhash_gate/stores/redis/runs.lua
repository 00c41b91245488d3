-- The runs of all crawlers: which live, and which have ended. A run is known by a digest of its name.
--
-- KEYS: a sorted set of live runs by the end of their lease, in ms; the set of ended ones; a hash
-- of owner and name by digest. ARGV: the operation, and what it takes.

local leases, ended, names = KEYS[1], KEYS[2], KEYS[3]
local operation, run = ARGV[1], ARGV[2]
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function lives()
  local lease = call('ZSCORE', leases, run)
  return lease and tonumber(lease) > now
end

local operations = {}

-- Announce a run of which the server may have lost sight: owner, name, lease in ms. Returns 0 if
-- another owner has the name, 2 if it was not known, or taken for dead.
function operations.renew(owner, name, lease)
  local known = call('HGET', names, run)
  local before = call('ZSCORE', leases, run)
  if lives() and known and string.sub(known, 1, #owner) ~= owner then return 0 end
  call('HSET', names, run, owner .. name)
  call('ZADD', leases, now + lease, run)
  call('SREM', ended, run) -- it was taken for dead, but for its durable pages
  return before and 1 or 2
end

function operations.begin(owner, name, lease)
  if call('SISMEMBER', ended, run) == 1 then return 0 end
  return operations.renew(owner, name, lease)
end

operations['end'] = function(owner, name)
  call('SADD', ended, run)
  call('HSET', names, run, owner .. name)
  return call('ZREM', leases, run)
end

-- Let the lease of a run end now.
function operations.release()
  return call('ZADD', leases, 'XX', 0, run)
end

-- Return the runs that have no lease any more.
function operations.dead()
  return call('ZRANGEBYSCORE', leases, '-inf', now)
end

-- Forget a dead run of which no page is left; with durable pages it counts as ended.
function operations.bury(durable)
  if lives() or not call('ZSCORE', leases, run) then return 0 end
  if durable == '1' then call('SADD', ended, run) else call('HDEL', names, run) end
  return call('ZREM', leases, run)
end

-- Return the runs that have ended.
function operations.ended()
  return call('SMEMBERS', ended)
end

-- Forget an ended run of which no page is left.
function operations.forget()
  call('HDEL', names, run)
  return call('SREM', ended, run)
end

-- Return "live", "ended" or "dead", and owner and name if they are known.
function operations.find()
  local state = call('SISMEMBER', ended, run) == 1 and 'ended' or lives() and 'live' or 'dead'
  return { state, call('HGET', names, run) }
end

return operations[operation](unpack(ARGV, 3))
