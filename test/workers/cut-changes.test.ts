/** Commands that die, or sleep past their time, half-way through a change of the number of partitions. */
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { allPartitions } from '../../src/stream/partition-of.ts'
import { readRoad } from '../../src/stream/partition-map.ts'
import { type Stack, openStack } from '../support/stack.ts'
import { change, checkApplied, lapse, pauseAt, rowsThere, soon, startCaller } from './changing-partitions.ts'
import { type Road, openRoad } from './ingest-lab.ts'

let stack: Stack
let road: Road
beforeAll(async () => {
  stack = await openStack()
})
afterAll(() => stack.close())
beforeEach(async () => {
  road = await openRoad(stack.sql, stack.redisUrl)
})
afterEach(() => road.close())

/** Changes one after another, each cut at a later step, until one was not cut; `cut` resolves with whether it was. */
async function cutAtEachStep(cut: (to: number, statement: number) => Promise<boolean>): Promise<void> {
  let to = 2
  let isCut = true
  for (let statement = 1; isCut; statement += 1) {
    to = to === 2 ? 3 : 2
    const door = await road.door()
    const callers = [startCaller(door, 'live'), startCaller(door, 'batch')]
    isCut = await cut(to, statement)
    // By themselves the doors read of what has become of it.
    const others = [startCaller(door, 'live'), startCaller(door, 'batch')]
    await vi.waitUntil(() => others.every(({ taken }) => taken.length > 0), soon)
    callers.push(...others)
    expect(['changed', 'unchanged']).toContain((await change(road, to)).kind)
    expect(await rowsThere(road)).toEqual(allPartitions(to).toSorted())
    await checkApplied(road, await Promise.all(callers.map((caller) => caller.stop())))
    await stack.sql`truncate applied`
    await door.close()
  }
}

describe('at any step', () => {
  it('a command that dies lets the doors open again, and another follow', { timeout: 120_000 }, async () => {
    road.worker('a', { leaseMs: 400 })
    await cutAtEachStep(async (to, statement) => {
      const dying = pauseAt(stack.sql, statement, { before: false })
      const outcome = await Promise.race([
        change(road, to, { sql: dying.sql }),
        dying.reached.then(() => 'dead' as const),
      ])
      await lapse(road)
      return outcome === 'dead'
    })
  })

  it('a command that sleeps past its time does no harm when it wakes up', { timeout: 120_000 }, async () => {
    road.worker('a', { leaseMs: 400 })
    await cutAtEachStep(async (to, statement) => {
      const sleeping = pauseAt(stack.sql, statement, { before: true })
      const changing = change(road, to, { sql: sleeping.sql })
      const outcome = await Promise.race([changing, sleeping.reached.then(() => 'asleep' as const)])
      await lapse(road)
      await readRoad(stack.sql)
      // Time for requests to be taken that the sleeper knows nothing of.
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
  it('each request that was taken is applied once, and in order', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
        const own = await openRoad(stack.sql, stack.redisUrl)
        try {
          const doors = [await own.door(), await own.door()]
          for (const name of ['a', 'b']) own.worker(name, { leaseMs: 400 })
          const callers = doors.flatMap((door) => [
            startCaller(door, 'live'),
            startCaller(door, 'live'),
            startCaller(door, 'batch'),
          ])
          for (const { to, diesAt, before, afterMs } of steps) {
            await sleep(afterMs)
            const dying = pauseAt(stack.sql, diesAt ?? Infinity, { before })
            await Promise.race([change(own, to, { sql: dying.sql }), dying.reached])
          }
          await lapse(road)
          expect(['changed', 'unchanged']).toContain((await change(own, 2)).kind)
          const promised = await Promise.all(callers.map((caller) => caller.stop()))
          await checkApplied(own, promised)
        } finally {
          await own.close()
        }
      }),
      { numRuns: 5 },
    )
  })
})
