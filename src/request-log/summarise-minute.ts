/** Summarises the requests of a business within the last minute. */
import type { Redis } from '../stores/redis.ts'
import { type RecordedRequest, OUTCOMES, type Outcome } from './recorded-request.ts'
import { type StoredEntry, readEntries } from './request-store.ts'

const MINUTE_MS = 60_000
/** A front door writes at most two entries a second, so this covers the last minute of two front doors. */
const MAX_ENTRIES = 240
/** Live requests wait while entries are parsed: 0.1 ms per entry with many requests a second. */
const ENTRIES_AT_ONCE = 16

export interface MinuteOfRequests {
  requests: number
  /** Numbers of kept requests by outcome. */
  outcomes: Record<Outcome, number>
  /** Durations of the kept requests; null when there are none. */
  ms: { median: number; p95: number } | null
}

export async function summariseMinute(redis: Redis, businessId: string, now: number): Promise<MinuteOfRequests> {
  const kept: Pick<RecordedRequest, 'outcome' | 'ms'>[] = []
  let omitted = 0
  for await (const { requests, omitted: left } of entriesSince(redis, businessId, now - MINUTE_MS)) {
    for (const { outcome, ms } of requests) kept.push({ outcome, ms })
    omitted += left
  }
  const outcomes = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, kept.filter((request) => request.outcome === outcome).length]),
  ) as Record<Outcome, number>
  const times = kept.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  const ms = times.length === 0 ? null : { median: quantile(0.5), p95: quantile(0.95) }
  return { requests: kept.length + omitted, outcomes, ms }
}

async function* entriesSince(redis: Redis, businessId: string, after: number): AsyncGenerator<StoredEntry> {
  let before: number | undefined
  for (let read = 0; read < MAX_ENTRIES; read += ENTRIES_AT_ONCE) {
    const entries = await readEntries(redis, businessId, { after, ...(before && { before }) }, ENTRIES_AT_ONCE)
    yield* entries
    if (entries.length < ENTRIES_AT_ONCE) return
    before = entries.at(-1)?.score
  }
}
