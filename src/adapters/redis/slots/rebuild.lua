-- ARGV: 2 now, 3 expiry, 4 holders [[holder, [scopes]]], 5 limits {scope: limit}, 6 least token, 7 "1" to open an empty store,
-- 8 how many scopes over their limit are told.
local now, expires_at = tonumber(ARGV[2]), ARGV[3]
local given, limits = {}, cjson.decode(ARGV[5])
for _, each in ipairs(cjson.decode(ARGV[4])) do given[each[1]] = each[2] end

local function pairs_of(key)
  local flat, found = redis.call('HGETALL', key), {}
  for index = 1, #flat, 2 do found[flat[index]] = flat[index + 1] end
  return found
end

local function count(leases)
  local counted = {}
  for _, lease in pairs(leases) do
    for _, scope in ipairs(lease.s) do counted[scope] = (counted[scope] or 0) + 1 end
  end
  return counted
end

local leases, used, known = {}, pairs_of(USED), pairs_of(LIMITS)
for holder, text in pairs(pairs_of(LEASES)) do leases[holder] = cjson.decode(text) end

-- Before leases go: what leaked is counted rightly until then.
local over, counted = {}, count(leases)
for scope, text in pairs(used) do
  local in_use, limit, held = tonumber(text), tonumber(known[scope] or '0'), counted[scope] or 0
  if in_use > limit or in_use > held then table.insert(over, { scope, in_use, held, limit }) end
end
table.sort(over, function(one, other) return one[1] < other[1] end)
while #over > tonumber(ARGV[8]) do table.remove(over) end

if tonumber(redis.call('GET', TOKEN) or '0') < tonumber(ARGV[6]) then redis.call('SET', TOKEN, ARGV[6], 'PX', KEEP_MS) end
local removed, added, unsure = 0, 0, {}
for holder, lease in pairs(leases) do
  if given[holder] then
    lease.s = given[holder]
    lease.e = later(lease.e, expires_at)
    write(holder, lease)
  elseif tonumber(lease.e) <= now then
    redis.call('HDEL', LEASES, holder)
    leases[holder] = nil
    removed = removed + 1
  else
    table.insert(unsure, holder)
  end
end
for holder, scopes in pairs(given) do
  if not leases[holder] then
    leases[holder] = { t = next_token(), e = expires_at, s = scopes }
    write(holder, leases[holder])
    table.insert(unsure, holder)
    added = added + 1
  end
end

redis.call('DEL', USED, LIMITS)
for scope, in_use in pairs(count(leases)) do
  redis.call('HSET', USED, scope, in_use)
  redis.call('HSET', LIMITS, scope, limits[scope] or known[scope] or 0)
end
keep()
local open = redis.call('EXISTS', FILLED) == 1 or ARGV[7] == '1'
-- Gone before what it vouches for.
if open then redis.call('SET', FILLED, '1', 'PX', math.floor(tonumber(KEEP_MS) / 2)) end
return { removed, added, open and 1 or 0, unsure, cjson.encode(over) }
