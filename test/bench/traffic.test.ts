import { expect, test } from 'vitest'
import { readFacts } from './ceilings/facts.ts'
import {
  MESH_EVENTS,
  type Traffic,
  eventsIn,
  isPurchase,
  makeBody,
  purchaseValue,
  typicalPerson,
} from './generator/traffic.ts'

const TRAFFICS: Traffic[] = [
  { kind: 'typical', prefix: 'p-' },
  { kind: 'known', prefix: 'p-', people: 100 },
  { kind: 'one-contact', prefix: 'p-' },
  { kind: 'new-contacts', prefix: 'p-' },
  { kind: 'mesh', prefix: 'p-', people: 50 },
  { kind: 'large', prefix: 'p-', bytes: 32_700 },
  { kind: 'probe', prefix: 'p-' },
  { kind: 'batch', prefix: 'p-', size: 50 },
]

test.each(TRAFFICS)('the product takes every event of $kind as it is', (traffic) => {
  const facts = readFacts(traffic, 0, 100)
  expect(facts.every((request) => request.length === eventsIn(traffic))).toBe(true)
  expect(facts.flat().flatMap(({ warnings }) => warnings)).toEqual([])
})

test.each(TRAFFICS)('a body of $kind is ASCII, since its length is taken for its bytes', (traffic) => {
  expect(makeBody(traffic, 12_345)).toMatch(/^[\x20-\x7e]+$/)
})

test('typical events are a fifth new people, an eighth purchases, half keyed', () => {
  const count = 8000
  const facts = readFacts({ kind: 'typical', prefix: '' }, 0, count).flat()
  const people = new Set(facts.map(({ identity }) => identity.email))
  expect(people.size).toBe(count / 5)
  expect(facts.filter(({ idempotencyKey }) => idempotencyKey !== null)).toHaveLength(count / 2)
  const orders = facts.filter(({ meaning }) => meaning.order).length
  expect(Math.abs(orders - count / 8)).toBeLessThan(count / 40)
})

test('a repeated event is about a person who is already known', () => {
  for (let n = 0; n < 5000; n += 1) expect(typicalPerson(n)).toBeLessThanOrEqual(Math.floor(n / 5))
})

test('which events are purchases, and of how much, is known beforehand', () => {
  const facts = readFacts({ kind: 'one-contact', prefix: '' }, 0, 500).flat()
  const read = facts.flatMap(({ meaning }, n) => (meaning.order ? [[n, Number(meaning.counted)]] : []))
  const known = facts.flatMap((_, n) => (isPurchase(n) ? [[n, purchaseValue(n)]] : []))
  expect(read).toEqual(known)
})

test('a window of a mesh holds all that each of its people has, in no apparent order', () => {
  const people = 50
  const window = people * MESH_EVENTS
  const facts = readFacts({ kind: 'mesh', prefix: '', people }, window, window).flat()
  const identities = facts.map(({ identity }) => JSON.stringify(Object.values(identity)))
  expect(new Set(identities).size).toBe(window)
  const joined = facts.filter(({ identity }) => identity.email && identity.phone)
  expect(new Set(joined.map(({ identity }) => identity.email)).size).toBe(people)
  const emails = facts.flatMap(({ identity }) => identity.email ?? [])
  expect(emails).not.toEqual(emails.toSorted())
})

test('every item of a backfill has a key and a time of its own', () => {
  const facts = readFacts({ kind: 'batch', prefix: '', size: 100 }, 0, 3).flat()
  expect(new Set(facts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(300)
  expect(facts.every(({ occurredAtSent }) => occurredAtSent)).toBe(true)
})
