/**
 * The Redis scripts of the streams. Each script runs atomically, so that an entry, its bytes in the counters and the
 * last id of the stream always agree. Two scripts share the comparison of ids.
 */
import { script } from './run-script.ts'

const ID_ORDER = `
local function parts(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end
local function above(a, b)
  local ams, aseq = parts(a)
  local bms, bseq = parts(b)
  return ams > bms or (ams == bms and aseq > bseq)
end
`

/**
 * KEYS: stream, backlog, fence. ARGV: floor, entry, bytes per business as JSON, version of the partition map. Returns
 * the id, then the name and the bytes of each counter that changed, including `total`. If the partition was closed
 * after that version, it writes nothing and returns an error.
 *
 * An id that is not above the floor comes from a Redis that came back empty, from an older state, or with its clock set
 * back. Workers have passed this id and would never read the entry, so the stream's last id is raised first. The
 * counters use pcall because their errors must not fail the append: an error means that nothing was recorded.
 */
export const APPEND = script(`${ID_ORDER}
local fence = redis.call('GET', KEYS[3])
if fence and tonumber(fence) > tonumber(ARGV[4]) then return redis.error_reply('FENCED ' .. fence) end
local id = redis.call('XADD', KEYS[1], '*', 'd', ARGV[2], 'w', ARGV[3])
if not above(id, ARGV[1]) then
  redis.call('XDEL', KEYS[1], id)
  redis.call('XSETID', KEYS[1], ARGV[1])
  id = redis.call('XADD', KEYS[1], '*', 'd', ARGV[2], 'w', ARGV[3])
end
local answer = { id }
local total = 0
for business, bytes in pairs(cjson.decode(ARGV[3])) do
  total = total + bytes
  answer[#answer + 1] = business
  answer[#answer + 1] = redis.pcall('HINCRBY', KEYS[2], business, bytes)
end
answer[#answer + 1] = 'total'
answer[#answer + 1] = redis.pcall('HINCRBY', KEYS[2], 'total', total)
return answer
`)

/**
 * KEYS: stream, fence, kept. ARGV: version of the partition map, committed position. Raises the fence to the version if
 * it is lower. Returns the number of entries after the position, the age of the oldest in milliseconds, and, when there
 * is none, the last id of the stream. The number is too low when Postgres has lost commits, but at least one.
 */
export const FENCE = script(`
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[2], ARGV[1]) end
local oldest = redis.call('XRANGE', KEYS[1], '(' .. ARGV[2], '+', 'COUNT', 1)[1]
if oldest then
  local time = redis.call('TIME')
  local age = time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(string.match(oldest[1], '^%d+'))
  local kept = tonumber(redis.call('HGET', KEYS[3], 'count') or '0')
  return { math.max(redis.call('XLEN', KEYS[1]) - kept, 1), math.max(age, 0), '' }
end
if redis.call('EXISTS', KEYS[1]) == 0 then return { 0, 0, '' } end
local info = redis.call('XINFO', 'STREAM', KEYS[1])
for i = 1, #info, 2 do
  if info[i] == 'last-generated-id' then return { 0, 0, info[i + 1] } end
end
`)

/**
 * KEYS: stream, backlog, kept. ARGV: position, the id up to which entries are deleted, maximum number of entries,
 * maximum bytes of kept entries. First passes the entries up to the position, oldest first: subtracts exactly their
 * bytes from the backlog, and counts them as kept. Then deletes passed entries: up to the id, and beyond it while too
 * much is kept, or while Redis has used 90 % of `maxmemory`. Returns the number of entries passed and deleted.
 *
 * It never deletes an entry after the position: a Postgres that has lost commits applies such entries again.
 *
 * It reads one entry at a time, since an entry can be large. Without waiting entries there is no backlog, so its
 * counters are deleted. It may run when Redis is out of memory, because it frees memory.
 */
export const TRIM = script(`#!lua flags=allow-oom
${ID_ORDER}
local function weigh(entry)
  local weights = {}
  for i = 1, #entry[2], 2 do
    if entry[2][i] == 'w' then
      local ok, decoded = pcall(cjson.decode, entry[2][i + 1])
      if ok and type(decoded) == 'table' then weights = decoded end
    end
  end
  local total = 0
  for business, bytes in pairs(weights) do
    if type(bytes) == 'number' then total = total + bytes else weights[business] = nil end
  end
  return weights, total
end
local function takeOff(field, bytes)
  if redis.call('HINCRBY', KEYS[2], field, -bytes) <= 0 then redis.call('HDEL', KEYS[2], field) end
end
local function isScarce()
  local info = redis.call('INFO', 'memory')
  local max = tonumber(string.match(info, 'maxmemory:(%d+)') or '0')
  return max > 0 and tonumber(string.match(info, 'used_memory:(%d+)') or '0') > 0.9 * max
end
local kept = redis.call('HMGET', KEYS[3], 'applied', 'count', 'bytes')
local applied, count, bytes = kept[1] or '0-0', tonumber(kept[2] or '0'), tonumber(kept[3] or '0')
local left = tonumber(ARGV[3])
local isPassing = above(ARGV[1], applied)
while left > 0 and above(ARGV[1], applied) do
  local entry = redis.call('XRANGE', KEYS[1], '(' .. applied, ARGV[1], 'COUNT', 1)[1]
  if entry then
    local weights, total = weigh(entry)
    for business, weight in pairs(weights) do takeOff(business, weight) end
    if total > 0 then takeOff('total', total) end
    applied, count, bytes, left = entry[1], count + 1, bytes + total, left - 1
  else
    applied = ARGV[1]
  end
end
if isPassing and #redis.call('XRANGE', KEYS[1], '(' .. applied, '+', 'COUNT', 1) == 0 then redis.call('DEL', KEYS[2]) end
local limit = isScarce() and 0 or tonumber(ARGV[4])
local isBehind = above(applied, ARGV[1])
local last = isBehind and ARGV[1] or applied
local trimmed, isEarly
while left > 0 do
  local entry = redis.call('XRANGE', KEYS[1], '-', last, 'COUNT', 1)[1]
  if not entry then
    if not isBehind then count, bytes = 0, 0 end
    break
  end
  local isDue = not above(entry[1], ARGV[2])
  if not isDue and bytes <= limit then break end
  isEarly = isEarly or not isDue
  local _, total = weigh(entry)
  redis.call('XDEL', KEYS[1], entry[1])
  trimmed, count, bytes, left = entry[1], math.max(count - 1, 0), math.max(bytes - total, 0), left - 1
end
redis.call('HSET', KEYS[3], 'applied', applied, 'count', count, 'bytes', bytes)
if trimmed then redis.call('HSET', KEYS[3], 'trimmed', trimmed) end
if isEarly then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[3], 'early', time[1] * 1000)
end
return tonumber(ARGV[3]) - left
`)

/**
 * KEYS: stream. ARGV: position. Returns how long, in milliseconds, the first entry after the position has waited; 0
 * when there is none.
 */
export const OLDEST_WAIT = script(`
local first = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', 1)[1]
if not first then return 0 end
local time = redis.call('TIME')
return math.max(0, time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(string.match(first[1], '^%d+')))
`)

/**
 * KEYS: stream. ARGV: position. Raises the stream's last id to the position if it is lower. Returns 1 if it was,
 * otherwise 0.
 */
export const RAISE_LAST_ID = script(`${ID_ORDER}
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      if not above(ARGV[1], info[i + 1]) then return 0 end
    end
  end
  redis.call('XSETID', KEYS[1], ARGV[1])
  return 1
end
if not above(ARGV[1], '0-0') then return 0 end
redis.call('XADD', KEYS[1], ARGV[1], 'w', '{}')
redis.call('XDEL', KEYS[1], ARGV[1])
return 1
`)

/**
 * KEYS: the set of live workers. ARGV: this worker, and the number of milliseconds that it counts as live (0: it
 * leaves). Returns the names of all live workers, by the clock of Redis. A score more than 10 minutes ahead (the
 * longest lease) was written before that clock was set back.
 */
export const ANNOUNCE = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(ARGV[2]) == 0 then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 600000, '+inf')
return redis.call('ZRANGE', KEYS[1], 0, -1)
`)
