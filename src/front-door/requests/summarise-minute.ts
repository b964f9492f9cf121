/** The requests of a business within the last minute, as numbers. */
import type { Redis } from '../../stores/redis.ts'
import { OUTCOMES, type Outcome } from './kept-request.ts'
import { readEntries } from './request-store.ts'

const MINUTE_MS = 60_000
/** A front door writes at most two entries a second: this holds the last minute of two. */
const MAX_ENTRIES = 240

export interface MinuteOfRequests {
  requests: number
  /** Of those that were kept, by their number. */
  outcomes: Record<Outcome, number>
  /** Of those that were kept; null when there are none. */
  ms: { median: number; p95: number } | null
}

export async function summariseMinute(redis: Redis, businessId: string, now: number): Promise<MinuteOfRequests> {
  const entries = await readEntries(redis, businessId, { after: now - MINUTE_MS }, MAX_ENTRIES)
  const kept = entries.flatMap(({ requests }) => requests)
  const omitted = entries.reduce((sum, entry) => sum + entry.omitted, 0)
  const outcomes = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, kept.filter((request) => request.outcome === outcome).length]),
  ) as Record<Outcome, number>
  const times = kept.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  const ms = times.length === 0 ? null : { median: quantile(0.5), p95: quantile(0.95) }
  return { requests: kept.length + omitted, outcomes, ms }
}
