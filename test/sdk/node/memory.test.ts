// @serial
/** A batch keeps only the events that are in progress in memory, however many there are. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { type BatchEvent, Sluice } from '../../../src/sdk/node/sluice.ts'

const MEGABYTE = 1_000_000
const EVENTS = 300

const { Bun } = globalThis as { Bun?: { gc(isSync: boolean): void } }
const collect = Bun ? () => Bun.gc(true) : takeCollector()

/** Node and Deno provide `gc` only in contexts that are created after the flag was set. */
function takeCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

/** Accepts every event at once. */
const takeAll = (_url: string, { body }: RequestInit): Promise<Response> => {
  const { events } = JSON.parse(body as string) as { events: unknown[] }
  return Promise.resolve(Response.json({ data: { recorded: events.length } }))
}

it('frees the memory of what it has sent', async () => {
  const sluice = new Sluice({ apiKey: 'sk_live_test', baseUrl: 'http://127.0.0.1', fetch: takeAll })
  let held = 0
  function* source(): Generator<BatchEvent> {
    for (let number = 0; number < EVENTS; number++) {
      const properties = { note: String(number).padEnd(MEGABYTE / 4, '.') }
      yield { event: 'past', identity: { platformCustomerId: number }, properties }
    }
    collect()
    held = process.memoryUsage().heapUsed
  }
  collect()
  const before = process.memoryUsage().heapUsed
  const { recorded } = await sluice.trackBatch(source())
  expect(recorded).toBe(EVENTS)
  expect((held - before) / MEGABYTE).toBeLessThan((EVENTS / 4) * 0.5)
})
