import { setTimeout as sleep } from 'node:timers/promises'
import {
  LOW_PRIORITY_KINDS,
  type PartitionKind,
  URGENT_KINDS,
  kindOf,
} from '../../../src/stream/partitions/partition-of.ts'
import { isKept } from '../ledger.ts'
import type { Scenario } from '../run-scenario.ts'
import type { World } from '../world.ts'

/**
 * A workers process is added and one is stopped cleanly: callers do not notice, and the partitions are distributed
 * again.
 */
export const scaleWorkers: Scenario = {
  name: 'workers scaled out and in',
  frontDoorStays: true,
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
    const under = unserved.filter(({ answer }) => answer !== 'under way')
    check(under.length === 0, `${under.length} callers noticed: ${under[0]?.answer}`)
  },
}

const PATIENCE_MS = 30_000

/**
 * All partitions have an owner, and each group of partitions is distributed evenly: the shares differ by at most one.
 */
async function isShared({ own: { sql } }: World, workers: number): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const leases = await sql<PartitionLease[]>`select partition, owner, lease_until > now() as held from positions`
    if ([URGENT_KINDS, LOW_PRIORITY_KINDS].every((kinds) => areShared(leases.filter(isOf(kinds)), workers))) return true
    await sleep(50)
  }
  return false
}

interface PartitionLease {
  partition: string
  owner: string | null
  held: boolean
}

const isOf =
  (kinds: readonly PartitionKind[]) =>
  ({ partition }: PartitionLease): boolean =>
    kinds.includes(kindOf(partition))

function areShared(leases: PartitionLease[], workers: number): boolean {
  const shares = Map.groupBy(leases, ({ owner }) => owner)
  const sizes = [...shares.values()].map((share) => share.length)
  const isFair = sizes.length === Math.min(workers, leases.length) && Math.max(...sizes) - Math.min(...sizes) <= 1
  return isFair && leases.every(({ held }) => held)
}
