import { setTimeout as sleep } from 'node:timers/promises'
import { APPEND } from '../../../src/stream/lua.ts'
import { type CuttingProxy, openCuttingProxy } from '../cutting-proxy.ts'
import type { Scenario } from '../run-scenario.ts'

/** Between an append and its id, a save and its result, an insert and its answer. */
export const cutConnections: Scenario = {
  name: 'connections cut around a command',
  frontDoorStays: false,
  async run({ world, chance, times, untilServed }) {
    const { databaseUrl, redisUrl, clickhouseUrl } = world.stores
    const roads = {
      append: await openCuttingProxy(redisUrl),
      save: await openCuttingProxy(databaseUrl),
      insert: await openCuttingProxy(clickhouseUrl),
      answer: await openCuttingProxy(redisUrl),
    }
    await world.reroute({
      door: { redisUrl: roads.append.url },
      workers: { databaseUrl: roads.save.url, redisUrl: roads.answer.url, clickhouseUrl: roads.insert.url },
    })
    const cuts: [CuttingProxy, text: string][] = [
      [roads.append, APPEND.sha],
      // The rows for the outbox travel with a save alone.
      [roads.save, 'occurred_ms'],
      [roads.insert, 'insert into events'],
      [roads.answer, 'sluice:answers:'],
    ]
    for (let round = 0; round < times(3, 12); round += 1) {
      for (const [road, text] of cuts) {
        await road.cutNext(text, chance.is(0.75) ? 'reply' : 'command')
        await sleep(chance.below(150))
      }
    }
    await untilServed(8000)
    await world.reroute({})
    for (const [road] of cuts) await road.close()
  },
}
