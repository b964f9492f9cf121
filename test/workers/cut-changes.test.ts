// @long
/** Commands that die, or sleep beyond their time, halfway through a change of the number of partitions. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { allPartitions } from '../../src/stream/partitions/partition-of.ts'
import { readPartitionMap } from '../../src/stream/partitions/partition-map.ts'
import { openStack } from '../support/stack.ts'
import { change, checkApplied, lapse, pauseAt, rowsThere, soon, startCaller } from './changing-partitions.ts'
import { type IngestLab, openIngestLab } from './ingest-lab.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

/**
 * Runs changes one after another, each interrupted at a later step, until one is not interrupted. `cut` resolves with
 * whether it was.
 */
async function cutAtEachStep(cut: (to: number, statement: number) => Promise<boolean>): Promise<void> {
  let to = 2
  let isCut = true
  for (let statement = 1; isCut; statement += 1) {
    to = to === 2 ? 3 : 2
    const frontDoor = await lab.frontDoor()
    const callers = [startCaller(frontDoor, 'live'), startCaller(frontDoor, 'batch')]
    isCut = await cut(to, statement)
    // The front doors read the outcome themselves.
    const others = [startCaller(frontDoor, 'live'), startCaller(frontDoor, 'batch')]
    await vi.waitUntil(() => others.every(({ taken }) => taken.length > 0), soon)
    callers.push(...others)
    expect(['changed', 'unchanged']).toContain((await change(lab, to)).kind)
    expect(await rowsThere(lab)).toEqual(allPartitions(to).toSorted())
    await checkApplied(lab, await Promise.all(callers.map((caller) => caller.stop())))
    await stack.sql`truncate applied`
    await frontDoor.close()
  }
}

describe('at any step', () => {
  it('after a command dies the front doors open again, and another command follows', async () => {
    lab.worker('a', { leaseMs: 400 })
    await cutAtEachStep(async (to, statement) => {
      const dying = pauseAt(stack.sql, statement, { before: false })
      const outcome = await Promise.race([
        change(lab, to, { sql: dying.sql }),
        dying.reached.then(() => 'dead' as const),
      ])
      await lapse(lab)
      return outcome === 'dead'
    })
  })

  it('a command that sleeps past its time does no harm when it wakes up', async () => {
    lab.worker('a', { leaseMs: 400 })
    await cutAtEachStep(async (to, statement) => {
      const sleeping = pauseAt(stack.sql, statement, { before: true })
      const changing = change(lab, to, { sql: sleeping.sql })
      const outcome = await Promise.race([changing, sleeping.reached.then(() => 'asleep' as const)])
      await lapse(lab)
      await readPartitionMap(stack.sql)
      // Enough time to accept requests that the sleeper does not know of.
      await sleep(20)
      sleeping.goOn()
      expect(['changed', 'unchanged']).toContain((await changing).kind)
      return outcome === 'asleep'
    })
  })
})

describe('whatever happens', () => {
  const step = fc.record({
    to: fc.integer({ min: 1, max: 6 }),
    /** The statement at which the command dies, if it does. */
    diesAt: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 2 }),
    before: fc.boolean(),
    afterMs: fc.integer({ min: 0, max: 100 }),
  })
  it('each request that was taken is applied once, and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
        const own = await openIngestLab(stack.sql, stack.redisUrl)
        try {
          const frontDoors = [await own.frontDoor(), await own.frontDoor()]
          for (const name of ['a', 'b']) own.worker(name, { leaseMs: 400 })
          const callers = frontDoors.flatMap((frontDoor) => [
            startCaller(frontDoor, 'live'),
            startCaller(frontDoor, 'live'),
            startCaller(frontDoor, 'batch'),
          ])
          for (const { to, diesAt, before, afterMs } of steps) {
            await sleep(afterMs)
            const dying = pauseAt(stack.sql, diesAt ?? Infinity, { before })
            await Promise.race([change(own, to, { sql: dying.sql }), dying.reached])
          }
          await lapse(lab)
          expect(['changed', 'unchanged']).toContain((await change(own, 2)).kind)
          const promised = await Promise.all(callers.map((caller) => caller.stop()))
          await checkApplied(own, promised)
        } finally {
          await own.close()
        }
      }),
      { numRuns: runs(5) },
    )
  })
})
