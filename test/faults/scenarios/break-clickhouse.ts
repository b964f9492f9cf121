import { setTimeout as sleep } from 'node:timers/promises'
import type { Ledger } from '../ledger.ts'
import type { Scenario } from '../run-scenario.ts'

/** Killed in the middle of inserts, then down for a while: the callers do not notice, and the views count nothing twice. */
export const breakClickHouse: Scenario = {
  name: 'ClickHouse killed and away',
  doorStays: true,
  async run({ world: { clickhouse }, chance, ledger, times, check }) {
    const from = Date.now()
    for (let round = 0; round < times(3, 15); round += 1) {
      await sleep(chance.between(300, 1200))
      await clickhouse.kill()
      if (round === 0) await sleep(times(2000, 60_000))
      await clickhouse.start()
    }
    const { unserved, p99Ms } = sinceThen(ledger, from)
    check(unserved === 0, `${unserved} callers noticed that ClickHouse was away`)
    check(p99Ms < 1000, `p99 was ${p99Ms} ms while ClickHouse was away`)
  },
}

function sinceThen(ledger: Ledger, from: number): { unserved: number; p99Ms: number } {
  const ended = ledger.attempts().filter(({ sentAt, endedAt }) => sentAt >= from && endedAt < Infinity)
  const took = ended.map(({ sentAt, endedAt }) => endedAt - sentAt).toSorted((a, b) => a - b)
  return {
    unserved: ended.filter(({ outcome }) => outcome !== 'answered').length,
    p99Ms: took[Math.floor(took.length * 0.99)] ?? 0,
  }
}
