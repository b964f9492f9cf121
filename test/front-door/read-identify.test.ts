/** The instant from which the traits of an identify call are valid, at the limits of what is accepted. */
import { expect, test } from 'vitest'
import { readIdentify } from '../../src/front-door/routes/sdk/read-identify.ts'
import { containing } from '../rules/containing.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const AHEAD = 5 * 60_000
const business = {
  id: '0198c5a0-7c01-7d4e-8a11-3c5b7d9e1f20',
  name: 'Shop',
  active: true,
  removed: false,
  rateLimit: 120,
  currency: 'USD',
  country: null,
  timezone: 'UTC',
  origins: [],
  bots: 'ignore' as const,
  webTriggers: [],
}
const read = (more: object, keyed = true) =>
  readIdentify({ identity: { email: 'ann@x.io' }, traits: { plan: 'pro' }, ...more }, { business, keyed, now: NOW })

test.each([
  [NOW + AHEAD, NOW + AHEAD],
  [new Date(NOW + AHEAD).toISOString(), NOW + AHEAD],
  ['2020-01-01', Date.UTC(2020, 0, 1)],
  [NOW, NOW],
])('%j is taken', (occurredAt, traitsAt) => {
  expect(read({ occurredAt })).toMatchObject({ fact: { traitsAt, traits: { plan: 'pro' }, warnings: [] } })
})

test.each([{}, { occurredAt: null }])('%j is now', (sent) => {
  const answer = read(sent)
  expect(answer).toHaveProperty('fact')
  expect(answer).not.toHaveProperty('fact.traitsAt')
})

test('seconds are taken as milliseconds, with a warning', () => {
  const fact = { traitsAt: 1_781_517_600, warnings: [containing('looks like seconds')] }
  expect(read({ occurredAt: 1_781_517_600 })).toMatchObject({ fact })
})

test.each([
  [NOW + AHEAD + 1, 'invalid_occurred_at'],
  [new Date(NOW + AHEAD + 1).toISOString(), 'invalid_occurred_at'],
  ['2026-02-30', 'invalid_occurred_at'],
  ['lesson 5', 'invalid_occurred_at'],
  [true, 'invalid_request'],
  [{}, 'invalid_request'],
])('%j is refused', (occurredAt, code) => {
  expect(read({ occurredAt })).toMatchObject({ code, issues: [{ path: 'occurredAt' }] })
})

test.each([NOW - 1, NOW + AHEAD + 1, 'lesson 5'])('%j without a secret key is ignored', (occurredAt) => {
  const answer = read({ occurredAt }, false)
  expect(answer).toMatchObject({ fact: { traits: {}, warnings: [containing('traits')] } })
  expect(answer).not.toHaveProperty('fact.traitsAt')
})
