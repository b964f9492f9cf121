/** Measures all the time how fast each store answers, and remembers which ones answer too late. */
import type { Logger } from '../../log.ts'
import {
  IN_TIME,
  type Lateness,
  LATENESS_LIMITS,
  NO_ANSWER_MS,
  STORES,
  type StoreName,
  judgeLateness,
} from '../../rules/lateness.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'

/** Longest wait for an answer of ClickHouse. */
export const PATIENCE_MS = 20_000
/** A ping that fails earlier has not reached the store; one that fails later was not answered. */
const FAILS_AT_ONCE_MS = 1_000
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
  const note = (store: StoreName, ms: number | null, at: number): void => {
    const before = verdictOf(store)
    const after = judgeLateness(before, ms, at, LATENESS_LIMITS[store])
    verdicts.set(store, after)
    if (before.since === null && after.since !== null) log.warn({ store, ms }, 'a store answers too late')
    if (before.since !== null && after.since === null) log.warn({ store, ms }, 'a store no longer answers too late')
  }
  const timers = STORES.map((store) => {
    let running: (Measurement & { at: number; isCounted: boolean }) | undefined
    return setInterval(() => {
      // An answer counts once, when it arrives, or has not arrived for so long that it decides alone.
      if (running && !running.isCounted && running.elapsedMs() > NO_ANSWER_MS) {
        running.isCounted = true
        note(store, running.elapsedMs(), running.at)
      }
      if (running) return
      const at = now()
      const measurement = measure(pings[store])
      const mine = { ...measurement, at, isCounted: false }
      running = mine
      void measurement.ms.then((ms) => {
        running = undefined
        if (!mine.isCounted) note(store, ms, at)
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

interface Measurement {
  /** Milliseconds so far, without those in which this process was too busy to read an answer. */
  elapsedMs(): number
  /** The same until the answer. Null when the store cannot be reached. Never rejects. */
  ms: Promise<number | null>
}

function measure(ping: () => Promise<unknown>): Measurement {
  const began = performance.now()
  let last = began
  let busyMs = 0
  const elapsedMs = (): number => {
    const at = performance.now()
    busyMs += Math.max(0, at - last - TICK_MS)
    last = at
    return at - began - busyMs
  }
  const ticker = setInterval(elapsedMs, TICK_MS)
  const end = (): number => {
    clearInterval(ticker)
    return elapsedMs()
  }
  const failed = (ms: number) => (ms < FAILS_AT_ONCE_MS ? null : ms)
  return { elapsedMs, ms: ping().then(end, () => failed(end())) }
}
