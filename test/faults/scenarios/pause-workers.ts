import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../run-scenario.ts'

/** A workers process is frozen for longer than its lease, and wakes in the middle of its work: it is fenced. */
export const pauseWorkers: Scenario = {
  name: 'workers frozen past their lease',
  frontDoorStays: true,
  async run({ world, chance, times, untilServed }) {
    for (let round = 0; round < times(1, 5); round += 1) {
      const victim = chance.pick(world.workers)
      await sleep(chance.below(600))
      await victim.pause()
      await untilServed(5000)
      await sleep(500)
      await victim.resume()
      await untilServed(5000)
    }
  },
}
