/**
 * The calls of one person arrive in order, whichever identity they use. Different people do not wait for each other.
 */
import * as fc from 'fast-check'
import { getCountries, getExampleNumber, type NumberFormat, type PhoneNumber } from 'libphonenumber-js'
import examples from 'libphonenumber-js/mobile/examples'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readPhone } from '../../../src/rules/identity/read-phone.ts'
import { keysOf } from '../../../src/sdk/node/order.ts'
import { type Identity, Sluice } from '../../../src/sdk/node/sluice.ts'
import {
  type Behaviour,
  cutJson,
  half,
  honest,
  type HostileService,
  openHostileService,
  refuse,
  reset,
  resetAfter,
} from './hostile-service.ts'
import { runs } from '../../support/runs.ts'

let stub: HostileService
let sluice: Sluice

beforeEach(() => reopen())
afterEach(async () => {
  await sluice.close(0)
  await stub.close()
})

async function reopen(): Promise<void> {
  stub = await openHostileService()
  const impatient = { minRetryMs: 1, maxRetryMs: 8, maxTries: Infinity }
  sluice = new Sluice({ apiKey: 'sk_live_test', baseUrl: stub.url, concurrency: 4, ...impatient })
}

const track = (event: string, identity: Identity): void => sluice.track({ event, identity })
const recorded = (): string[] => stub.recorded.map(({ event }) => event)

/** Returns a promise, and a function that resolves it. */
function latch(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

/** Answers honestly once the gate is open. */
const after =
  (gate: Promise<void>): Behaviour =>
  (socket, heard, record) =>
    void gate.then(() => honest(socket, heard, record))

const IDENTITY = fc.record(
  {
    email: fc.constantFrom('a@x.io', 'b@x.io', 'c@x.io', 'd@x.io'),
    phone: fc.constantFrom('+972541234567', '+972541234568', '+972541234569'),
    platformCustomerId: fc.constantFrom(1, 2, 3, 4),
  },
  { requiredKeys: [] },
)
const BEHAVIOUR = fc.constantFrom(honest, reset, resetAfter, half, cutJson, refuse(500), refuse(503, {}, true))

it('calls that share a value are recorded in the order of the calls, whatever fails', async () => {
  const people = fc.array(IDENTITY, { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(people, fc.array(BEHAVIOUR, { maxLength: 60 }), async (identities, behaviours) => {
      await sluice.close(0)
      await stub.close()
      await reopen()
      stub.behave(({ number }) => behaviours[number - 1])
      for (const [number, identity] of identities.entries()) track(String(number), identity)
      await sluice.flush()
      const place = new Map(recorded().map((event, index) => [Number(event), index]))
      expect(place.size).toBe(identities.length)
      for (const [later, identity] of identities.entries())
        for (const [earlier, other] of identities.slice(0, later).entries())
          if (shares(identity, other)) expect(place.get(earlier)).toBeLessThan(place.get(later) ?? -1)
    }),
    { numRuns: runs(40) },
  )
})

const shares = (one: Identity, other: Identity): boolean =>
  (['email', 'phone', 'platformCustomerId'] as const).some(
    (kind) => one[kind] !== undefined && one[kind] === other[kind],
  )

it('a call by email and one by phone are in order when a waiting call has both', async () => {
  const gate = latch()
  stub.behave(({ body: { event }, number }) => {
    if (event === 'both') return after(gate.opened)
    return event === 'by email, again' && number < 8 ? refuse(500) : undefined
  })
  track('by email', { email: 'a@x.io' })
  track('by phone', { phone: '+972541234567' })
  track('both', { email: 'a@x.io', phone: '+972541234567' })
  track('by email, again', { email: 'a@x.io' })
  track('by phone, again', { phone: '+972541234567' })
  gate.open()
  await sluice.flush()
  expect(recorded().slice(2)).toEqual(['both', 'by email, again', 'by phone, again'])
})

it('two people that a third call joins count as one person from then on', async () => {
  const gate = latch()
  stub.behave(({ body: { event }, number }) => {
    if (event.startsWith('first')) return after(gate.opened)
    return event === 'a again' && number < 8 ? reset : undefined
  })
  track('first a', { email: 'a@x.io' })
  track('first b', { platformCustomerId: 1 })
  track('a is b', { email: 'a@x.io', platformCustomerId: '1' })
  track('a again', { email: 'a@x.io' })
  track('b again', { platformCustomerId: 1 })
  gate.open()
  await sluice.flush()
  expect(recorded().slice(2)).toEqual(['a is b', 'a again', 'b again'])
})

it('what was known of one of two contacts holds for the merged one too', async () => {
  const gate = latch()
  stub.behave(({ body: { event }, number }) => {
    if (event.startsWith('first')) return after(gate.opened)
    return event === 'b by id' && number < 8 ? refuse(500) : undefined
  })
  track('first a', { email: 'a@x.io' })
  track('first b', { phone: '+972541234567', platformCustomerId: 1 })
  track('a is b', { email: 'a@x.io', phone: '+972541234567' })
  track('b by id', { platformCustomerId: 1 })
  track('a', { email: 'a@x.io' })
  gate.open()
  await sluice.flush()
  expect(recorded().slice(2)).toEqual(['a is b', 'b by id', 'a'])
})

it('what a call has said of a person is dropped with the call', async () => {
  const gate = latch()
  stub.behave(({ body: { event } }) => (event.startsWith('held') ? after(gate.opened) : undefined))
  const first = sluice.trackNow({ event: '1', identity: { phone: '+972541234567', platformCustomerId: 1 } })
  track('held by phone', { phone: '+972541234567' })
  await first
  track('held by email', { email: 'a@x.io' })
  track('held, both', { email: 'a@x.io', phone: '+972541234567' })
  await sluice.trackNow({ event: '2', identity: { platformCustomerId: 1 } })
  expect(recorded()).toEqual(['1', '2'])
  gate.open()
  await sluice.flush()
})

it.each<[string, Identity, Identity]>([
  ['in capital letters', { email: 'ann@x.io' }, { email: ' Ann@X.io ' }],
  ['with and without its country code', { phone: '054-123-4567' }, { phone: '+972 54 123 4567' }],
  ['in digits of another script', { phone: '٠٥٤١٢٣٤٥٦٧' }, { phone: '٠٥٤-١٢٣-٤٥٦٧' }],
  ['as a number and as text', { platformCustomerId: 42 }, { platformCustomerId: '42' }],
])('a value is the same %s', async (_how, one, other) => {
  stub.behave(({ number }) => (number < 4 ? refuse(500) : undefined))
  track('1', one)
  track('2', other)
  await sluice.flush()
  expect(recorded()).toEqual(['1', '2'])
})

it.each<[string, Identity, Identity]>([
  ['of different values', { email: 'a@x.io' }, { email: 'b@x.io' }],
  ['of one text in two fields', { email: '12345678' }, { platformCustomerId: '12345678' }],
  ['whom nobody knows', { platformCustomerId: 'guest', email: 'a@x.io' }, { platformCustomerId: 'Guest' }],
  ['without any value', {}, { email: null }],
])('people %s do not wait for each other', async (_who, one, other) => {
  const gate = latch()
  stub.behave(({ body }) => (body.event === '1' ? after(gate.opened) : undefined))
  track('1', one)
  await sluice.trackNow({ event: '2', identity: other })
  expect(recorded()).toEqual(['2'])
  gate.open()
  await sluice.flush()
  expect(recorded()).toEqual(['2', '1'])
})

describe('two spellings of a phone that the service reads as the same', () => {
  const COUNTRIES = getCountries().flatMap((country) => getExampleNumber(country, examples) ?? [])
  const EXTENSIONS = ['', '', ' ext. 77', ' x77', ';ext=77', '#77', ',,77', ' доб. 77', ' ext. 41234567', '~77']
  const SCRIPTS = ['0', '0', '٠', '۰', '０'].map(
    (zero) => (text: string) => text.replace(/\d/g, (digit) => String.fromCharCode(zero.charCodeAt(0) + Number(digit))),
  )
  const written = fc.record({
    format: fc.constantFrom<NumberFormat>('NATIONAL', 'INTERNATIONAL', 'E.164', 'RFC3966'),
    extension: fc.constantFrom(...EXTENSIONS),
    script: fc.constantFrom(...SCRIPTS),
    bare: fc.boolean(),
  })
  interface Written {
    format: NumberFormat
    extension: string
    script: (text: string) => string
    bare: boolean
  }
  const write = (number: PhoneNumber, { format, extension, script, bare }: Written) => {
    const text = number.format(format)
    return script((bare ? text.replace(/[^+\d]/g, '') : text) + extension)
  }

  it('has a key in common', () => {
    fc.assert(
      fc.property(fc.constantFrom(...COUNTRIES), written, written, (number, one, other) => {
        const phones = [write(number, one), write(number, other)]
        const [a, b] = phones.map((phone) => readPhone(phone, number.country ?? null)?.value)
        fc.pre(a !== undefined && a === b)
        const [first, second] = phones.map((phone) => keysOf({ identity: { phone } }))
        expect({ phones, shared: first?.some((key) => second?.includes(key)) }).toEqual({ phones, shared: true })
      }),
      { numRuns: runs(5_000) },
    )
  })
})

it.each([
  [64, '1234'],
  [65, '0123'],
])('a phone of %i characters is compared by its first 64: the service refuses more', (length, key) => {
  expect(keysOf({ identity: { phone: '1234'.padStart(length, '0') } })).toEqual([`2:${key}`, `2:${key}`])
})

it('a call that is given up lets the next one of its person go', async () => {
  stub.behave(({ body }) => (body.event === '1' ? refuse(400) : undefined))
  const failed: string[] = []
  await sluice.close()
  sluice = new Sluice({ apiKey: 'k', baseUrl: stub.url, onError: ({ code }) => failed.push(code) })
  track('1', { email: 'a@x.io' })
  track('2', { email: 'a@x.io' })
  await sluice.flush()
  expect([recorded(), failed]).toEqual([['2'], ['code_400']])
})

it('an identify comes before the event that follows it', async () => {
  stub.behave(({ path, number }) => (path.endsWith('/identify') && number < 4 ? refuse(500) : undefined))
  sluice.identify({ identity: { email: 'a@x.io' } })
  track('1', { email: 'a@x.io' })
  await sluice.flush()
  expect(stub.heard.map(({ path }) => path.split('/').at(-1))).toEqual([
    'identify',
    'identify',
    'identify',
    'identify',
    'track',
  ])
})
