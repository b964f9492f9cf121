/** Measures all the time how fast each store answers, and remembers which ones answer too late. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { IN_TIME, type Lateness, LATENESS_LIMITS, STORES, type StoreName, judgeLateness } from '../../rules/lateness.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'

/** An answer that takes longer is late in any case, and not awaited. */
export const PATIENCE_MS = 10_000
const EVERY_MS = 2_000
/** How often the time is looked at during a measurement, to find out for how long this process itself was busy. */
const TICK_MS = 20

interface Deps {
  /** Connections that no slow query occupies. */
  quick: Sql
  redis: Redis
  clickhouse: ClickHouseClient
  log: Logger
}

export interface StoreWatch {
  /** The stores that answer too late. */
  late(): StoreName[]
  /** Epoch ms of the first late answer; null when the store answers in time, or cannot be reached at all. */
  lateSince(store: StoreName): number | null
  close(): void
}

export function watchStores(
  { quick, redis, clickhouse, log }: Deps,
  { everyMs = EVERY_MS, now = Date.now }: { everyMs?: number; now?: () => number } = {},
): StoreWatch {
  const pings: Record<StoreName, () => Promise<unknown>> = {
    redis: () => redis.ping(),
    postgres: () => quick`select 1`,
    async clickhouse() {
      const { success } = await clickhouse.ping({ select: true })
      if (!success) throw new Error('no answer')
    },
  }
  const verdicts = new Map<StoreName, Lateness>()
  const verdictOf = (store: StoreName) => verdicts.get(store) ?? IN_TIME
  const timers = STORES.map((store) => {
    let isMeasuring = false
    return setInterval(() => {
      if (isMeasuring) return
      isMeasuring = true
      const at = now()
      void measure(pings[store]).then((ms) => {
        isMeasuring = false
        const before = verdictOf(store)
        const after = judgeLateness(before, ms, at, LATENESS_LIMITS[store])
        verdicts.set(store, after)
        if (before.since === null && after.since !== null) log.warn({ store, ms }, 'a store answers too late')
        if (before.since !== null && after.since === null) log.warn({ store, ms }, 'a store no longer answers too late')
      })
    }, everyMs)
  })
  const lateSince = (store: StoreName) => verdictOf(store).since
  return {
    late: () => STORES.filter((store) => lateSince(store) !== null),
    lateSince,
    close() {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

/**
 * Resolves to the milliseconds until the answer, without those in which this process was too busy to read it. Null when
 * the store cannot be reached.
 */
async function measure(ping: () => Promise<unknown>): Promise<number | null> {
  const began = performance.now()
  let last = began
  let busyMs = 0
  const look = () => {
    const at = performance.now()
    busyMs += Math.max(0, at - last - TICK_MS)
    last = at
  }
  const ticker = setInterval(look, TICK_MS)
  const answer = ping().then(
    () => 'answered' as const,
    () => 'failed' as const,
  )
  const ended = new AbortController()
  const outcome = await Promise.race([answer, sleep(PATIENCE_MS, 'late', { signal: ended.signal }).catch(() => 'late')])
  ended.abort()
  clearInterval(ticker)
  look()
  return outcome === 'failed' ? null : performance.now() - began - busyMs
}
