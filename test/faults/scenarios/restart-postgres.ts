import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../run-scenario.ts'

/** Postgres ends sessions cleanly (`fast`), or as in a crash with recovery at the next start (`immediate`). */
export const restartPostgres: Scenario = {
  name: 'Postgres restarted, fast and immediate',
  frontDoorStays: true,
  async run({ world: { postgres }, chance, times, untilServed }) {
    for (let round = 0; round < times(1, 5); round += 1) {
      for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
        await sleep(chance.below(500))
        await postgres.stop(signal)
        await postgres.start()
        await untilServed(8000)
      }
    }
  },
}

/** Postgres neither answers nor closes its connections. */
export const pausePostgres: Scenario = {
  name: 'Postgres frozen for a while',
  frontDoorStays: true,
  async run({ world: { postgres }, chance, times, untilServed }) {
    await sleep(chance.below(500))
    await postgres.pause()
    await sleep(times(4000, 20_000))
    await postgres.resume()
    await untilServed(8000)
  },
}
