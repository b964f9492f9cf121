/** XADD and XREAD of the entries for the pipeline's events, in the sizes that the pipeline achieved. */
import { connectRedis, whenReady } from '../../../src/stores/redis.ts'
import { encodeEntry } from '../../../src/stream/decode-entry.ts'
import type { EventFact } from '../../../src/rules/events/facts.ts'
import { serveTask } from '../task.ts'
import { BUSINESS, RECEIVED_AT, readFacts, requestsFor } from './facts.ts'
import { type CeilingPlan, inGroups, spend } from './plan.ts'

const STREAM = 'ceiling'
const IN_FLIGHT = 2
const READY_MS = 10_000

await serveTask(async ({ stores, traffic, groups, warmUp, events }: CeilingPlan) => {
  const writer = connectRedis(stores.redisUrl, 'publish')
  const reader = connectRedis(stores.redisUrl, 'read')
  await Promise.all([whenReady(writer, READY_MS), whenReady(reader, READY_MS)])
  const entries = (first: number, count: number) => makeEntries(readFacts(traffic, first, count), groups.entry)
  const warm = requestsFor(traffic, Math.min(warmUp, events))
  const requests = requestsFor(traffic, events)
  const perRead = Math.max(1, Math.round(groups.microBatch / groups.entry))
  const measured = entries(warm, requests)
  await pass(entries(0, warm))
  return { run: () => spend(events, () => pass(measured)) }

  async function pass(texts: string[]): Promise<void> {
    await writer.del(STREAM)
    await Promise.all([...write(texts), read(texts.length)])
    await writer.del(STREAM)
  }

  function write(texts: string[]): Promise<void>[] {
    let next = 0
    return Array.from({ length: IN_FLIGHT }, async () => {
      while (next < texts.length) await writer.xadd(STREAM, '*', 'd', texts[next++] ?? '')
    })
  }

  async function read(count: number): Promise<void> {
    let position = '0-0'
    for (let got = 0; got < count;) {
      const answer = await reader.xread('COUNT', perRead, 'BLOCK', 1000, 'STREAMS', STREAM, position)
      const found = answer?.[0]?.[1] ?? []
      got += found.length
      position = found.at(-1)?.[0] ?? position
    }
  }
})

/** Each batch request is one entry; single events share entries. */
function makeEntries(requests: EventFact[][], perEntry: number): string[] {
  const texts = requests.map((facts, n) => JSON.stringify(requestOf(facts, n)))
  const single = requests.every((facts) => facts.length === 1)
  return inGroups(texts, single ? perEntry : 1).map((group) => encodeEntry('ceiling', group))
}

function requestOf(facts: EventFact[], n: number): object {
  const base = { n, businessId: BUSINESS.id, receivedAt: RECEIVED_AT, requestId: crypto.randomUUID() }
  return facts.length === 1
    ? { ...base, kind: 'track', keyed: true, source: 'live', fact: facts[0] }
    : { ...base, kind: 'batch', items: facts.map((fact, index) => ({ index, fact })) }
}
