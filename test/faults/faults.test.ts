/** The short form of every fault; `bun run faults --long --seed N` is the long one. */
import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runScenario } from './run-scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { type World, openWorld } from './world.ts'

const seed = randomInt(1_000_000_000)
let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

describe(`with seed ${seed}, nothing is lost and nothing doubled:`, () => {
  it.each(SCENARIOS)('$name', { timeout: 90_000 }, async (scenario) => {
    const { complaints, acknowledged, recorded } = await runScenario(world, scenario, { seed, long: false })
    expect(complaints).toEqual([])
    expect(recorded).toBeGreaterThanOrEqual(acknowledged)
    expect(acknowledged).toBeGreaterThan(100)
  })
})
