/**
 * Stores the latest requests of each business in Redis: a sorted set of entries per business, with the requests of one
 * flush in each. The score of an entry is its time, made unique, so that the entry can be rewritten in its place
 * without an erased person.
 */
import { runScript, script } from '../stream/run-script.ts'
import type { Redis } from '../stores/redis.ts'
import type { RecordedRequest } from './recorded-request.ts'

export const KEEP_MS = 3_600_000
const KEEP_SECONDS = KEEP_MS / 1000
/** Per business. */
export const MAX_BYTES = 4 * 1024 * 1024

/** The requests that one front door wrote at once. */
export interface Entry {
  requests: RecordedRequest[]
  /** Number of successes of the same moment that were left out. */
  omitted: number
}

const keysOf = (businessId: string) => ({
  entries: `sluice:{${businessId}}:requests`,
  bytes: `sluice:{${businessId}}:requests-bytes`,
  erased: `sluice:{${businessId}}:requests-erased`,
})

/**
 * KEYS: entries, bytes, erased. ARGV: entry, maximum of bytes, oldest score, seconds to keep, contact ids. If any of
 * the contacts were erased, writes nothing and returns their ids; otherwise returns an empty list.
 */
const WRITE = script(`
local erased = {}
if #ARGV > 4 and redis.call('EXISTS', KEYS[3]) == 1 then
  for i = 5, #ARGV do
    if redis.call('SISMEMBER', KEYS[3], ARGV[i]) == 1 then erased[#erased + 1] = ARGV[i] end
  end
  if #erased > 0 then return erased end
end
local time = redis.call('TIME')
local score = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] and tonumber(last[2]) >= score then score = tonumber(last[2]) + 1 end
redis.call('ZADD', KEYS[1], string.format('%.0f', score), string.format('%.0f', score) .. ARGV[1])
local bytes = redis.call('INCRBY', KEYS[2], #ARGV[1])
while true do
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if not first[1] then bytes = 0 break end
  if bytes <= tonumber(ARGV[2]) and tonumber(first[2]) >= tonumber(ARGV[3]) then break end
  redis.call('ZREM', KEYS[1], first[1])
  bytes = bytes - (#first[1] - 13)
end
redis.call('SET', KEYS[2], bytes, 'EX', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return erased
`)

/**
 * KEYS: entries. ARGV: score, the entry as it was read, its replacement (empty: none). Returns 0 when the entry has
 * changed since.
 */
const REPLACE = script(`
if redis.call('ZREM', KEYS[1], ARGV[2]) == 0 then return 0 end
if ARGV[3] ~= '' then redis.call('ZADD', KEYS[1], ARGV[1], ARGV[3]) end
return 1
`)

/** A request as JSON. */
export interface Line {
  contactId: string | null
  json: string
}

/** Writes an entry without the requests of contacts that have been erased in the meantime. */
export async function writeEntry(
  redis: Redis,
  businessId: string,
  entry: { requests: Line[]; omitted: number },
): Promise<void> {
  const { entries, bytes, erased } = keysOf(businessId)
  let { requests } = entry
  for (;;) {
    const ids = [...new Set(requests.flatMap(({ contactId }) => contactId ?? []))]
    const text = `{"omitted":${entry.omitted},"requests":[${requests.map(({ json }) => json).join(',')}]}`
    const args = [text, MAX_BYTES, Date.now() - KEEP_MS, KEEP_SECONDS, ...ids]
    const found = new Set((await runScript(redis, WRITE, [entries, bytes, erased], args)) as string[])
    if (found.size === 0) return
    requests = requests.filter(({ contactId }) => contactId === null || !found.has(contactId))
  }
}

export interface StoredEntry extends Entry {
  score: number
}

/** `after` and `before` are scores, exclusive. */
export interface Span {
  after?: number
  before?: number
}

/** Returns at most `count` entries, newest first. */
export async function readEntries(
  redis: Redis,
  businessId: string,
  { after = Date.now() - KEEP_MS, before }: Span,
  count: number,
): Promise<StoredEntry[]> {
  const top = before === undefined ? '+inf' : `(${before}`
  const bottom = `(${Math.max(after, Date.now() - KEEP_MS)}`
  const { entries } = keysOf(businessId)
  return (await redis.zrevrangebyscore(entries, top, bottom, 'LIMIT', 0, count)).map(decode)
}

export async function readEntry(redis: Redis, businessId: string, score: number): Promise<StoredEntry | undefined> {
  if (score < Date.now() - KEEP_MS) return undefined
  const [found] = await redis.zrangebyscore(keysOf(businessId).entries, score, score)
  return found === undefined ? undefined : decode(found)
}

/** Digits of the score at the start of an entry's text. */
const DIGITS = 13

function decode(text: string): StoredEntry {
  return { score: Number(text.slice(0, DIGITS)), ...(JSON.parse(text.slice(DIGITS)) as Entry) }
}

const SCAN_ENTRIES = 200

/**
 * Removes the requests of these contacts. Front doors that still hold such a request find its contact among the erased
 * ones when they write it.
 */
export async function forgetRequests(redis: Redis, businessId: string, ids: string[]): Promise<void> {
  const { entries, erased } = keysOf(businessId)
  await redis.sadd(erased, ...ids)
  await redis.expire(erased, KEEP_SECONDS)
  for (let from = '-inf'; ;) {
    const texts = await redis.zrangebyscore(entries, from, '+inf', 'LIMIT', 0, SCAN_ENTRIES)
    let isChanged = false
    for (const text of texts) {
      if (!ids.some((id) => text.includes(id))) continue
      const done = await runScript(redis, REPLACE, [entries], [text.slice(0, DIGITS), text, without(text, ids)])
      isChanged ||= done === 0
    }
    // Another erasure has rewritten one of these entries: read them again.
    if (isChanged) continue
    const last = texts.at(-1)
    if (last === undefined || texts.length < SCAN_ENTRIES) return
    from = `(${last.slice(0, DIGITS)}`
  }
}

function without(text: string, ids: string[]): string {
  const { score, requests, omitted } = decode(text)
  const rest = requests.filter(({ contactId }) => contactId === null || !ids.includes(contactId))
  return rest.length === 0 && omitted === 0 ? '' : `${score}${JSON.stringify({ requests: rest, omitted })}`
}
