import { setTimeout as sleep } from 'node:timers/promises'
import { isKept } from '../ledger.ts'
import type { Scenario } from '../run-scenario.ts'
import type { World } from '../world.ts'

/** One workers process more, then one less, in an orderly way: the callers do not notice, the partitions are shared out. */
export const scaleWorkers: Scenario = {
  name: 'workers scaled out and in',
  doorStays: true,
  async run({ world, chance, ledger, times, check }) {
    const from = Date.now()
    for (let round = 0; round < times(1, 4); round += 1) {
      await sleep(chance.below(400))
      const third = await world.addWorkers(`workers-more-${chance.below(1e9)}`)
      check(await isShared(world, 3), 'the partitions are not shared by three')
      await chance.pick([third, ...world.workers]).stop()
      check(await isShared(world, 2), 'the partitions are not shared by two')
      for (const handle of world.workers) if (!handle.isRunning()) await handle.start()
      await third.stop()
      check(await isShared(world, 2), 'the partitions are not shared by the two that stay')
    }
    const unserved = ledger.attempts().filter((one) => one.sentAt >= from && !isKept(one))
    const under = unserved.filter(({ told }) => told !== 'under way')
    check(under.length === 0, `${under.length} callers noticed: ${under[0]?.told}`)
  },
}

const PATIENCE_MS = 30_000

/** Each holds its share, give or take one, and all are held. */
async function isShared({ own: { sql } }: World, workers: number): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const rows = await sql<{ held: number }[]>`
      select count(*)::int as held from positions where lease_until > now() group by owner`
    const [there] = await sql<[{ n: number }]>`select count(*)::int as n from positions`
    const held = rows.map((row) => row.held)
    const all = held.reduce((sum, one) => sum + one, 0)
    if (all === there.n && held.length === workers && Math.max(...held) - Math.min(...held) <= 1) return true
    await sleep(50)
  }
  return false
}
