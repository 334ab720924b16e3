-- Before each script on slots. A lease is JSON: t token, e expiry in ms of the callers' clocks, s scopes.
local LEASES, USED, LIMITS, TOKEN, FILLED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local KEEP_MS = ARGV[1]

local function read(holder)
  local text = redis.call('HGET', LEASES, holder)
  return text and cjson.decode(text) or nil
end

local function write(holder, lease)
  redis.call('HSET', LEASES, holder, cjson.encode(lease))
end

local function later(one, other)
  return tonumber(one) > tonumber(other) and one or other
end

local function free(holder, lease)
  redis.call('HDEL', LEASES, holder)
  for _, scope in ipairs(lease.s) do
    if redis.call('HINCRBY', USED, scope, -1) <= 0 then
      redis.call('HDEL', USED, scope)
      redis.call('HDEL', LIMITS, scope)
    end
  end
end

-- Microseconds of this server's clock, or one more than the last: it rises also when the last is forgotten.
local function next_token()
  local time = redis.call('TIME')
  local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
  local last = tonumber(redis.call('GET', TOKEN) or '0')
  local token = string.format('%.0f', math.max(micros, last + 1))
  redis.call('SET', TOKEN, token, 'PX', KEEP_MS)
  return token
end

local function keep()
  for _, key in ipairs({ LEASES, USED, LIMITS, TOKEN }) do redis.call('PEXPIRE', key, KEEP_MS) end
end
