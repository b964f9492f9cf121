/** The short form of every fault, from one seed (FAULTS_SEED); `bun run faults --long` takes another each time. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runScenario } from './run-scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { type World, openWorld } from './world.ts'

const seed = Number(process.env['FAULTS_SEED'] ?? 1)
let world: World
beforeAll(async () => {
  world = await openWorld()
}, 120_000)
afterAll(() => world.close())

describe(`with seed ${seed}, nothing is lost and nothing doubled:`, () => {
  it.for(SCENARIOS)('$name', { timeout: 180_000 }, async (scenario, { skip }) => {
    const reason = await scenario.whyNot?.()
    if (reason !== undefined) {
      process.stderr.write(`NOT RUN: ${scenario.name}: ${reason}\n`)
      skip(reason)
    }
    const { complaints, acknowledged, recorded } = await runScenario(world, scenario, { seed, long: false })
    expect(complaints).toEqual([])
    expect(recorded).toBeGreaterThanOrEqual(acknowledged)
    expect(acknowledged).toBeGreaterThan(100)
  })
})
