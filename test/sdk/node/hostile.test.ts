/**
 * A service, or a network in front of it, that breaks every rule: nothing is lost, nothing is recorded twice, and
 * nothing is left open.
 */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Lost, Sluice } from '../../../src/sdk/node/sluice.ts'
import {
  answerWith,
  type Behaviour,
  cutJson,
  garbage,
  half,
  hang,
  type HostileService,
  huge,
  openHostileService,
  refuse,
  reset,
  resetAfter,
  type Sent,
  slow,
} from './hostile-service.ts'
import { runs } from '../../support/runs.ts'

const BEHAVIOURS: Record<string, Behaviour> = {
  hangs: hang,
  'resets the connection': reset,
  'resets the connection once it has recorded': resetAfter,
  'answers half, once it has recorded': half,
  'answers half a JSON, once it has recorded': cutJson,
  'says nothing with its 200': answerWith(200, {}, ''),
  dribbles: slow,
  'does not stop to answer': huge,
  'speaks no HTTP': garbage,
  fails: refuse(500),
  'fails once it has recorded': refuse(503, {}, true),
  'is behind a proxy that fails': refuse(502),
  'is busy': refuse(429, { 'retry-after': '0' }),
  'is busy and does not say for how long': refuse(429),
  'was busy until long ago': refuse(503, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }),
}
/** Behaviours that take no time. */
const QUICK = Object.keys(BEHAVIOURS).filter((name) => !['hangs', 'dribbles', 'does not stop to answer'].includes(name))

const PEOPLE = 6
const EVENTS = 40
const CONCURRENCY = 4

let stub: HostileService
let lost: Lost[]
let sluice: Sluice

beforeEach(async () => {
  stub = await openHostileService()
  lost = []
  sluice = open()
})
afterEach(async () => {
  await sluice.close(0)
  await stub.close()
})

function open(): Sluice {
  const onError = (one: Lost): unknown => lost.push(one)
  const impatient = { concurrency: CONCURRENCY, timeoutMs: 400, minRetryMs: 1, maxRetryMs: 8, maxTries: Infinity }
  return new Sluice({ apiKey: 'sk_live_test', baseUrl: stub.url, onError, ...impatient })
}

const email = (number: number): string => `person-${number % PEOPLE}@x.io`
const keysOf = (events: Sent[]): string[] => events.map(({ idempotencyKey }) => idempotencyKey).toSorted()
const expectedKeys = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => `key-${number}`).toSorted()

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 100_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('It did not come about within 100 s')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe.each(Object.keys(BEHAVIOURS))('a service that %s', (name) => {
  it('gets every event once, and each person’s in order', async () => {
    stub.behave(({ number }) => (number % 7 === 3 ? BEHAVIOURS[name] : undefined))
    for (let number = 0; number < EVENTS; number++)
      sluice.track({ event: String(number), identity: { email: email(number) }, idempotencyKey: `key-${number}` })
    await sluice.flush()
    expect(lost).toEqual([])
    expect(keysOf(stub.recorded)).toEqual(expectedKeys(EVENTS))
    const byPerson = Map.groupBy(stub.recorded, ({ identity }) => identity.email)
    for (const events of byPerson.values()) {
      const numbers = events.map(({ event }) => Number(event))
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
    // Connections that hang or do not end are closed; the others wait for the next request.
    await until(() => stub.connections() <= CONCURRENCY)
  })

  it('gets every event of a batch once', async () => {
    stub.behave(({ number }) => (number % 3 === 2 ? BEHAVIOURS[name] : undefined))
    const events = Array.from({ length: EVENTS }, (_, number) => ({
      event: 'past',
      identity: { email: email(number) },
      idempotencyKey: `key-${number}`,
    }))
    const result = await sluice.trackBatch(events, { chunkSize: 5, timeoutMs: 400 })
    expect(result).toMatchObject({ ok: true, settled: EVENTS, failed: 0 })
    expect(result.recorded + result.deduped).toBe(EVENTS)
    expect(keysOf(stub.recorded)).toEqual(expectedKeys(EVENTS))
  })
})

it('a service that is never there loses nothing that it could have had before the end', async () => {
  stub.behave(() => reset)
  for (let number = 0; number < EVENTS; number++) sluice.track({ event: 'e', identity: { email: email(number) } })
  await until(() => stub.heard.length > 20)
  stub.behave(() => undefined)
  await sluice.flush()
  expect([stub.recorded.length, lost]).toEqual([EVENTS, []])
})

it('while the service is away, only some waiting calls try it', async () => {
  await sluice.close()
  const patient = { minRetryMs: 60_000, maxRetryMs: 60_000, onError: () => undefined }
  sluice = new Sluice({ apiKey: 'sk_live_test', baseUrl: stub.url, concurrency: CONCURRENCY, ...patient })
  stub.behave(() => refuse(503))
  for (let number = 0; number < 2000; number++) sluice.track({ event: 'e', identity: { platformCustomerId: number } })
  await until(() => stub.heard.length > CONCURRENCY)
  await sluice.close(500)
  expect(stub.heard.length).toBeLessThan(100)
})

it('under any mixture of all this, each event is recorded once, and in order', async () => {
  const mixture = fc.array(fc.option(fc.constantFrom(...QUICK), { freq: 2 }), { minLength: 5, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(mixture, fc.array(fc.nat(PEOPLE - 1), { maxLength: 40 }), async (behaviours, people) => {
      await stub.close()
      await sluice.close(0)
      stub = await openHostileService()
      sluice = open()
      stub.behave(({ number }) => BEHAVIOURS[behaviours[number - 1] ?? ''])
      for (const [number, person] of people.entries())
        sluice.track({ event: String(number), identity: { email: email(person) }, idempotencyKey: `key-${number}` })
      await sluice.flush()
      expect(keysOf(stub.recorded)).toEqual(expectedKeys(people.length))
      for (const events of Map.groupBy(stub.recorded, ({ identity }) => identity.email).values())
        expect(events.map(({ event }) => Number(event))).toEqual(
          events.map(({ event }) => Number(event)).toSorted((a, b) => a - b),
        )
      expect(lost).toEqual([])
    }),
    { numRuns: runs(10) },
  )
})
