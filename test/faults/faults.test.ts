// @faults
/** The short form of every fault, with one seed (FAULTS_SEED). `bun run faults --long` uses a new seed each time. */
import { afterAll, describe, expect, it } from 'vitest'
import { runScenario } from './run-scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { type World, openWorld } from './world.ts'

const seed = Number(process.env['FAULTS_SEED'] ?? 1)

/** Has the world of the scenario that ran there before, if that one went well. */
interface Place {
  world?: World | undefined
}
/** A scenario waits half of the time, so two run at once. */
const places: Place[] = [{}, {}]
const free = [...places]
const waiting: ((place: Place) => void)[] = []
const takePlace = async (): Promise<Place> => free.pop() ?? new Promise((resolve) => waiting.push(resolve))
function leavePlace(place: Place): void {
  const next = waiting.shift()
  if (next) next(place)
  else free.push(place)
}
afterAll(async () => {
  for (const { world } of places) await world?.close()
})

describe(`with seed ${seed}, nothing is lost and nothing doubled:`, () => {
  it.concurrent.for(SCENARIOS)('$name', { timeout: 3_600_000 }, async (scenario, { skip }) => {
    const reason = await scenario.whyNot?.()
    if (reason !== undefined) {
      process.stderr.write(`NOT RUN: ${scenario.name}: ${reason}\n`)
      skip(reason)
    }
    const place = await takePlace()
    try {
      const used = place.world ?? (await openWorld())
      // A world in which a scenario failed is not used for the next one.
      place.world = undefined
      try {
        const { complaints, acknowledged, recorded } = await runScenario(used, scenario, { seed, long: false })
        expect(complaints).toEqual([])
        expect(recorded).toBeGreaterThanOrEqual(acknowledged)
        expect(acknowledged).toBeGreaterThan(100)
        place.world = used
      } finally {
        if (place.world === undefined) await used.close()
      }
    } finally {
      leavePlace(place)
    }
  })
})
