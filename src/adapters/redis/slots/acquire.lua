-- ARGV: 2 holder, 3 expiry, 4 given up [[holder, token or ""]], 5 wanted [[scope, limit]]. All scopes or none.
if redis.call('EXISTS', FILLED) == 0 then return { 'UNFILLED' } end
local holder, expires_at = ARGV[2], ARGV[3]

-- Asked for by a call whose answer was lost: nobody holds them.
for _, each in ipairs(cjson.decode(ARGV[4])) do
  local lease = read(each[1])
  if lease and each[1] ~= holder and (each[2] == '' or each[2] == lease.t) then free(each[1], lease) end
end

local present = read(holder)
if present then
  present.e = later(present.e, expires_at)
  write(holder, present)
  return { 'ACQUIRED', present.t }
end

local wanted, scopes = cjson.decode(ARGV[5]), {}
for _, each in ipairs(wanted) do
  if tonumber(redis.call('HGET', USED, each[1]) or '0') >= each[2] then return { 'FULL', each[1] } end
end
for _, each in ipairs(wanted) do
  redis.call('HINCRBY', USED, each[1], 1)
  redis.call('HSET', LIMITS, each[1], each[2])
  table.insert(scopes, each[1])
end
local token = next_token()
write(holder, { t = token, e = expires_at, s = scopes })
keep()
return { 'ACQUIRED', token }
