import { setTimeout as sleep } from 'node:timers/promises'
import { streamKey, workersKey } from '../../../src/stream/keys.ts'
import { LOW_PRIORITY_KINDS, URGENT_KINDS } from '../../../src/stream/partitions/partition-of.ts'
import { canFakeClocks, withClock } from '../fake-clock.ts'
import type { Handle } from '../run-process.ts'
import type { Scenario, Stage } from '../run-scenario.ts'
import type { World } from '../world.ts'
import { startEmpty } from './restart-redis.ts'

const PREFETCH_MS = 3_600_000
const PATIENCE_MS = 30_000
/** Far less than the hour, even on a slow machine on which several processes start at once. */
const SERVED_MS = 30_000

/**
 * The clock was an hour ahead for a while: positions are in the future, and restarted processes might continue with
 * lower ids, or with leases and names from the past. No entry is skipped, and no caller waits for the clock.
 */
export const setBackClock: Scenario = {
  name: 'clock set back by an hour',
  frontDoorStays: false,
  async run(stage) {
    const { world, chance, times, check } = stage
    for (let round = 0; round < times(1, 6); round += 1) {
      await runAhead(world)
      check(await areAhead(world), 'the positions did not follow the ids')
      for (const act of chance.shuffle([restartRedis, startEmpty, restartFrontDoor, dieWithLeases])) {
        await sleep(chance.below(300))
        await act(stage)
        await stage.untilServed(SERVED_MS)
      }
      check(await areAhead(world), 'a position went back')
    }
    const { postgres, workers } = world
    if (canFakeClocks())
      for (const part of chance.shuffle([postgres, ...workers]).slice(0, times(0, 3))) await stepBack(part, stage)
  },
}

/** A real step: the part runs an hour ahead, and then on the right clock. */
async function stepBack(part: Handle, { chance, untilServed }: Stage): Promise<void> {
  await part.kill()
  await withClock('+1h', () => part.start())
  await untilServed(8000)
  await sleep(chance.below(2000))
  await part.kill()
  await part.start()
  await untilServed(8000)
}

/**
 * Leaves the streams as a Redis with such a clock would have left them. The entry that takes the id is deleted at once.
 */
async function runAhead({ own: { sql, redis } }: World): Promise<void> {
  const id = `${Date.now() + PREFETCH_MS}-7`
  for (const { partition } of await sql<{ partition: string }[]>`select partition from positions`) {
    const stream = streamKey(partition)
    await redis.multi().xadd(stream, id, 'w', '{}').xdel(stream, id).exec()
  }
}

/**
 * Returns whether every partition has committed something since. Excludes web events, because no visitor browses here.
 */
async function areAhead({ own: { sql } }: World): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS
  while (Date.now() < deadline) {
    const rows = await sql<{ position: string }[]>`
      select position from positions where partition not like 'web-%'`
    if (rows.every(({ position }) => Number(position.split('-')[0]) > Date.now() + PREFETCH_MS / 2)) return true
    await sleep(50)
  }
  return false
}

async function restartRedis({ world: { redis } }: Stage): Promise<void> {
  await redis.kill()
  await redis.start()
}

async function restartFrontDoor({ world: { frontDoor } }: Stage): Promise<void> {
  await frontDoor.kill()
  await frontDoor.start()
}

/** Kills all workers at once. Their leases and names end an hour later on the real clock. */
async function dieWithLeases({ world }: Stage): Promise<void> {
  const { workers, own } = world
  const { sql, redis } = own
  await Promise.all(workers.map((handle) => handle.kill()))
  await sql`update positions set lease_until = lease_until + interval '1 hour'`
  await sql`update timeline_lease set lease_until = lease_until + interval '1 hour'`
  for (const key of [workersKey(URGENT_KINDS), workersKey(LOW_PRIORITY_KINDS)]) {
    const names = await redis.zrange(key, 0, '-1')
    for (const name of names) await redis.zincrby(key, PREFETCH_MS, name)
  }
  await Promise.all(workers.map((handle) => handle.start()))
}
