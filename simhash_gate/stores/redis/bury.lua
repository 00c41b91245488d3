-- Remove some pages of a dead run, but for those that are durable; call again until the cursor is "0".
--
-- ARGV: the run, the cursor. Returns the next cursor, and how many durable pages of it were seen.

local DURABLE = 2

local scan = call('HSCAN', key, ARGV[2], 'COUNT', 200)
local removed, durable = 0, 0
for at = 1, #scan[2], 2 do
  local number, page = tonumber(scan[2][at]), scan[2][at + 1]
  if number and sub(page, RUN, DIGEST - 1) == ARGV[1] then
    if bit.band(string.byte(page, FLAGS), DURABLE) ~= 0 then
      durable = durable + 1
    elseif get(number) then
      remove(number)
      removed = removed + 1
    end
  end
end
if removed > 0 then save() end
return { scan[1], durable }
