import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../run-scenario.ts'

/** `kill -9` of the front door with requests between append and answer. The client sends them again. */
export const killFrontDoor: Scenario = {
  name: 'front door killed',
  frontDoorStays: false,
  async run({ world: { frontDoor }, chance, times, untilServed }) {
    for (let round = 0; round < times(3, 15); round += 1) {
      await sleep(chance.below(500))
      await frontDoor.kill()
      await frontDoor.start()
      await untilServed(5000)
    }
  },
}
