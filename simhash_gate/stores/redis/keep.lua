-- There is no page like this one: remember it. As a rule that changes its own buckets only.

local time = call('TIME')
page = pack('>I7', time[1] * 1000000 + time[2]) .. sub(page, FINGERPRINT)
if not own then
  own = { buckets_of(page, FINGERPRINT) }
  owned = call('HMGET', key, unpack(own))
end
local last, pages = scope.last + 1, scope.pages + 1
if not crowded(pages) and pages <= window and expiry == 0 and scope.expires == 0 then
  local entry = entry_of(page, last)
  local fields = { last, page, 'scope', pack(HEAD, FORMAT, scope.buckets, scope.first, last, pages, 0) }
  for place, field in ipairs(own) do
    fields[2 * place + 3], fields[2 * place + 4] = field, (owned[place] or '') .. entry
  end
  call('HSET', key, unpack(fields))
  return answer
end
