import { setTimeout as sleep } from 'node:timers/promises'
import { APPEND } from '../../../src/stream/lua.ts'
import { type CuttingProxy, openCuttingProxy } from '../cutting-proxy.ts'
import type { Scenario } from '../run-scenario.ts'

/** Cuts connections between an append and its id, a save and its result, an insert and its answer. */
export const cutConnections: Scenario = {
  name: 'connections cut around a command',
  frontDoorStays: false,
  async run({ world, chance, times, untilServed }) {
    const { databaseUrl, redisUrl, clickhouseUrl } = world.stores
    const proxies = {
      append: await openCuttingProxy(redisUrl),
      save: await openCuttingProxy(databaseUrl),
      insert: await openCuttingProxy(clickhouseUrl),
      answer: await openCuttingProxy(redisUrl),
    }
    await world.reroute({
      frontDoor: { redisUrl: proxies.append.url },
      workers: { databaseUrl: proxies.save.url, redisUrl: proxies.answer.url, clickhouseUrl: proxies.insert.url },
    })
    const cuts: [CuttingProxy, text: string][] = [
      [proxies.append, APPEND.sha],
      // Only a save sends the rows for the outbox.
      [proxies.save, 'occurred_ms'],
      [proxies.insert, 'insert into events'],
      [proxies.answer, 'sluice:answers:'],
    ]
    for (let round = 0; round < times(3, 12); round += 1) {
      for (const [proxy, text] of cuts) {
        await proxy.cutNext(text, chance.is(0.75) ? 'reply' : 'command')
        await sleep(chance.below(150))
      }
    }
    await untilServed(8000)
    await world.reroute({})
    for (const [proxy] of cuts) await proxy.close()
  },
}
