import { readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario, Stage } from '../run-scenario.ts'
import { ANSWER_TIMEOUT_MS } from '../world.ts'

const MOST_LOST_MS = ANSWER_TIMEOUT_MS * 0.75

/** Tests `appendfsync always`: every acknowledged entry is in the append-only file. */
export const killRedis: Scenario = {
  name: 'Redis killed',
  frontDoorStays: true,
  async run({ world: { redis }, chance, times, untilServed }) {
    for (let round = 0; round < times(2, 10); round += 1) {
      await sleep(chance.below(600))
      await redis.kill()
      await sleep(chance.below(800))
      await redis.start()
      await untilServed(8000)
    }
  },
}

/**
 * A disk that did not really sync: Redis returns without its last second, and would assign the same ids again. No
 * promise about that second is broken, because a 202 takes longer.
 */
export const rewindRedis: Scenario = {
  name: 'Redis back with its last second lost',
  frontDoorStays: true,
  async run({ world: { redis, folder }, chance, times, untilServed }) {
    for (let round = 0; round < times(1, 5); round += 1) {
      const log = await appendedLog(folder)
      const size = await sizeOfLastSecond(log)
      await redis.kill()
      // A block rarely ends at the end of a command.
      await truncate(log, size + chance.below(200))
      await redis.start()
      await untilServed(8000)
    }
  },
}

export const emptyRedis: Scenario = {
  name: 'Redis back empty',
  frontDoorStays: true,
  async run(stage) {
    const { chance, times, untilServed } = stage
    for (let round = 0; round < times(1, 5); round += 1) {
      await sleep(chance.below(600))
      await startEmpty(stage)
      await untilServed(8000)
    }
  },
}

/** Redis loses everything that it had promised, but nothing that is sent from now on. */
export async function startEmpty({ world: { redis, folder }, ledger }: Stage): Promise<void> {
  await redis.kill()
  ledger.forgottenAt = Date.now()
  await rm(join(folder, 'redis', 'appendonlydir'), { recursive: true })
  await redis.start()
}

/**
 * Returns the size of the log a second ago. Repeats if this process had to wait for the machine: an entry from that
 * time may already have its 202.
 */
async function sizeOfLastSecond(log: string): Promise<number> {
  for (;;) {
    const from = Date.now()
    const { size } = await stat(log)
    await sleep(1000)
    if (Date.now() - from < MOST_LOST_MS) return size
  }
}

async function appendedLog(folder: string): Promise<string> {
  const place = join(folder, 'redis', 'appendonlydir')
  const logs = (await readdir(place)).filter((name) => name.endsWith('.incr.aof'))
  return join(place, logs.toSorted().at(-1) ?? '')
}
