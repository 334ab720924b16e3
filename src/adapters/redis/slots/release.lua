-- ARGV: 2 [[holder, token or "" for whatever it has]]. Answers how many were freed.
local freed = 0
for _, each in ipairs(cjson.decode(ARGV[2])) do
  local lease = read(each[1])
  if lease and (each[2] == '' or each[2] == lease.t) then
    free(each[1], lease)
    freed = freed + 1
  end
end
return freed
