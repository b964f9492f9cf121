import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../run-scenario.ts'

/** Some parts fail at the same time, in any order, and return in any order. */
export const breakSeveral: Scenario = {
  name: 'several killed at once',
  frontDoorStays: false,
  async run({ world, chance, times, untilServed }) {
    const { postgres, redis, clickhouse, frontDoor, workers } = world
    for (let round = 0; round < times(2, 10); round += 1) {
      const parts = [postgres, redis, clickhouse, frontDoor, ...workers]
      const victims = parts.filter(() => chance.is(0.5))
      await sleep(chance.below(400))
      await Promise.all(
        victims.map(async (victim) => {
          await sleep(chance.below(300))
          await (victim === postgres ? victim.stop('SIGQUIT') : victim.kill())
        }),
      )
      await sleep(chance.below(500))
      await world.heal()
      await untilServed(8000)
    }
  },
}
