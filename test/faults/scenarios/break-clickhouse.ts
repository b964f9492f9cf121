import { setTimeout as sleep } from 'node:timers/promises'
import { type Ledger, isKept } from '../ledger.ts'
import type { Scenario } from '../run-scenario.ts'

/** A busy machine may be slow for a few callers, but ClickHouse would delay many. */
const SLOW_SHARE = 0.05

/**
 * ClickHouse is killed during inserts, then down for a while. Callers do not notice, and the views count nothing twice.
 */
export const breakClickHouse: Scenario = {
  name: 'ClickHouse killed and away',
  frontDoorStays: true,
  async run({ world: { clickhouse }, chance, ledger, times, check, note }) {
    const from = Date.now()
    for (let round = 0; round < times(3, 15); round += 1) {
      await sleep(chance.between(300, 1200))
      await clickhouse.kill()
      if (round === 0) await sleep(times(2000, 60_000))
      await clickhouse.start()
    }
    const { others, slowShare, p99Ms } = sinceThen(ledger, from)
    check(others.length === 0, `callers noticed that ClickHouse was away: ${others.join(', ')}`)
    check(slowShare < SLOW_SHARE, `${Math.round(slowShare * 100)} % of the callers were held up by ClickHouse`)
    note(`p99 ${p99Ms} ms while ClickHouse was away`)
  },
}

/** Returns the answers other than 200 and 202, the share of 202, and the p99 latency. */
function sinceThen(ledger: Ledger, from: number): { others: string[]; slowShare: number; p99Ms: number } {
  const ended = ledger.attempts().filter(({ sentAt, endedAt }) => sentAt >= from && endedAt < Infinity)
  const took = ended.map(({ sentAt, endedAt }) => endedAt - sentAt).toSorted((a, b) => a - b)
  const others = ended.filter((attempt) => !isKept(attempt))
  return {
    others: others.map(({ answer }) => answer),
    slowShare: ended.filter(({ outcome }) => outcome === 'queued').length / Math.max(1, ended.length),
    p99Ms: took[Math.floor(took.length * 0.99)] ?? 0,
  }
}
