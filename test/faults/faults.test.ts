/** The short form of every fault, with one seed (FAULTS_SEED). `bun run faults --long` uses a new seed each time. */
import { afterAll, describe, expect, it } from 'vitest'
import { runScenario } from './run-scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { type World, openWorld } from './world.ts'

const seed = Number(process.env['FAULTS_SEED'] ?? 1)
let world: World | undefined
afterAll(() => world?.close())

describe(`with seed ${seed}, nothing is lost and nothing doubled:`, () => {
  it.for(SCENARIOS)('$name', { timeout: 900_000 }, async (scenario, { skip }) => {
    const reason = await scenario.whyNot?.()
    if (reason !== undefined) {
      process.stderr.write(`NOT RUN: ${scenario.name}: ${reason}\n`)
      skip(reason)
    }
    // A world in which a scenario failed is not used for the next one.
    const used = world ?? (await openWorld())
    world = undefined
    try {
      const { complaints, acknowledged, recorded } = await runScenario(used, scenario, { seed, long: false })
      expect(complaints).toEqual([])
      expect(recorded).toBeGreaterThanOrEqual(acknowledged)
      expect(acknowledged).toBeGreaterThan(100)
      world = used
    } finally {
      if (world === undefined) await used.close()
    }
  })
})
