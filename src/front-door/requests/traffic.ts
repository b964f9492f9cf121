/** How many requests a business sends, how they are answered, and how fast: counted by five minutes in Redis, for a day. */
import type { Redis } from '../../stores/redis.ts'
import { OUTCOMES, type Outcome } from './kept-request.ts'

export const SLOT_MS = 300_000
const HOUR_MS = 3_600_000
const KEEP_HOURS = 25
const KEEP_SECONDS = (KEEP_HOURS + 1) * 3600

/** Upper ends, in ms; the last bucket has none. */
export const LATENCY_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000]

export interface Counts {
  outcomes: Record<Outcome, number>
  events: number
  /** One more than LATENCY_MS. */
  latency: number[]
}

export const noCounts = (): Counts => ({
  outcomes: { done: 0, warned: 0, queued: 0, refused: 0, limited: 0, failed: 0 },
  events: 0,
  latency: Array<number>(LATENCY_MS.length + 1).fill(0),
})

export function bucketOf(ms: number): number {
  let bucket = 0
  while (bucket < LATENCY_MS.length && ms > (LATENCY_MS[bucket] ?? Infinity)) bucket += 1
  return bucket
}

const hourKey = (businessId: string, hour: number): string => `sluice:{${businessId}}:traffic:${hour}`

export async function addCounts(redis: Redis, businessId: string, now: number, counts: Counts): Promise<void> {
  const key = hourKey(businessId, Math.floor(now / HOUR_MS))
  const slot = Math.floor((now % HOUR_MS) / SLOT_MS)
  const pipeline = redis.pipeline()
  const add = (name: string, by: number) => by > 0 && pipeline.hincrby(key, `${slot}:${name}`, by)
  for (const outcome of OUTCOMES) add(outcome, counts.outcomes[outcome])
  add('events', counts.events)
  for (const [bucket, by] of counts.latency.entries()) add(`b${bucket}`, by)
  pipeline.expire(key, KEEP_SECONDS)
  await pipeline.exec()
}

export interface Slot extends Counts {
  /** Epoch ms of its beginning. */
  from: number
}

/** The slots of the last 24 hours, oldest first, empty ones included. */
export async function readTraffic(redis: Redis, businessId: string, now: number): Promise<Slot[]> {
  const hours = Array.from({ length: KEEP_HOURS }, (_, index) => Math.floor(now / HOUR_MS) - KEEP_HOURS + 1 + index)
  const pipeline = redis.pipeline()
  for (const hour of hours) pipeline.hgetall(hourKey(businessId, hour))
  const replies = (await pipeline.exec()) ?? []
  const slots = hours.flatMap((hour, index) => readHour(hour, (replies[index]?.[1] ?? {}) as Record<string, string>))
  return slots.filter(({ from }) => from > now - 24 * HOUR_MS && from <= now)
}

function readHour(hour: number, fields: Record<string, string>): Slot[] {
  return Array.from({ length: HOUR_MS / SLOT_MS }, (_, slot) => {
    const read = (name: string) => Number(fields[`${slot}:${name}`] ?? 0)
    return {
      from: hour * HOUR_MS + slot * SLOT_MS,
      outcomes: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, read(outcome)])) as Counts['outcomes'],
      events: read('events'),
      latency: Array.from({ length: LATENCY_MS.length + 1 }, (_, bucket) => read(`b${bucket}`)),
    }
  })
}

/** The time that this share of the answers took at most, in ms; null without any. Between the ends of a bucket it is estimated. */
export function quantile(latency: readonly number[], share: number): number | null {
  const total = latency.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [bucket, count] of latency.entries()) {
    const from = LATENCY_MS[bucket - 1] ?? 0
    const to = LATENCY_MS[bucket] ?? from
    if (left <= count) return from + (to - from) * (count === 0 ? 0 : left / count)
    left -= count
  }
  return LATENCY_MS.at(-1) ?? null
}
