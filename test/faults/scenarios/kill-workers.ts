import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../run-scenario.ts'

/** `kill -9` of a workers process at a random moment. The other one takes over within 5 seconds. */
export const killWorkers: Scenario = {
  name: 'workers killed',
  frontDoorStays: true,
  async run({ world, chance, times, untilServed }) {
    for (let round = 0; round < times(2, 10); round += 1) {
      const victim = chance.pick(world.workers)
      await sleep(chance.below(600))
      await victim.kill()
      await untilServed(5000)
      await victim.start()
    }
  },
}
