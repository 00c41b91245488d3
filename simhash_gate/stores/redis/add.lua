-- Remember the page, let the tables grow, and evict what falls out of the window.

local function evict()
  while scope.pages > 0 do
    local oldest = get(scope.first)
    if oldest then
      if scope.pages <= window and parse('>d', oldest, LAST_SEEN) >= since then return end
      remove(scope.first)
    end
    scope.first = scope.first + 1
  end
end

for place, field in ipairs(own) do
  stored[field] = owned[place]
end
add(page)
if scope.pages > window or expiry > 0 then evict() end
local expired = scope.expires
scope.expires = expiry > 0 and 1 or 0
if expiry > 0 then put('expiry', expiry) end
save()
if expiry > 0 then
  call('PEXPIRE', key, expiry)
elseif expired == 1 then
  call('PERSIST', key)
end
return answer
