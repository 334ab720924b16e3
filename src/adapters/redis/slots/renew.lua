-- ARGV: 2 holder, 3 token, 4 expiry.
local lease = read(ARGV[2])
if not lease or lease.t ~= ARGV[3] then return 0 end
lease.e = ARGV[4]
write(ARGV[2], lease)
return 1
