/**
 * Random lives of campaigns, with workers that die and workers that run at the same time: everything matches the
 * reference model.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { type Stack, openStack } from '../support/stack.ts'
import type { World } from './model/course.ts'
import { life } from './model/life.ts'
import { live, openWorld } from './model/live.ts'

let stack: Stack
let world: World
beforeAll(async () => {
  stack = await openStack()
  world = await openWorld(stack)
})
afterAll(async () => {
  for (const engine of world.engines) await engine.close()
  await stack.close()
})

it('enrolments and messages are those of the model after every action', { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(life, (one) => live(world, one)),
    { numRuns: runs(400) },
  )
})
