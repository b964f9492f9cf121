/** Lost events as lines of a file: in the format of an import, and complete after a recovery that was killed. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fileOf, lineOf, writeEvents } from '../../src/admin/recover/write-events.ts'
import type { LostEvent } from '../../src/admin/verify/find-lost.ts'

const ID = '0199a0f4-0000-7000-8000-000000000001'
const EVENT: LostEvent = {
  business_id: ID,
  contact_id: ID,
  event_id: ID,
  event: 'bought',
  occurred_ms: Date.parse('0001-01-01T00:00:00.001Z'),
  received_ms: 1,
  type: 'purchase',
  value: 49.9,
  currency: 'EUR',
  counted: '49.9',
  is_order: 1,
  properties: '{"n":1.10}',
  source: 'live',
  idempotency_key: null,
  visitor_id: 'v',
  owner: ID,
  isAnonymous: false,
}
const PERSON = { emails: ['a@x.io', 'b@x.io'], phones: [], platform_customer_ids: ['C'] }

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-lost-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test('a line is a complete event, with a key of its own where none was sent', () => {
  expect(JSON.parse(lineOf(EVENT, PERSON, 0))).toEqual({
    event: 'bought',
    identity: { platformCustomerId: 'C', email: 'a@x.io' },
    occurredAt: '0001-01-01T00:00:00.001Z',
    type: 'purchase',
    value: 49.9,
    currency: 'EUR',
    idempotencyKey: `recovered:${ID}`,
    properties: { n: 1.1 },
  })
  const bare = { ...EVENT, type: 'none' as const, value: null, properties: '', idempotency_key: 'k' }
  expect(JSON.parse(lineOf(bare, undefined, 0))).toEqual({
    event: 'bought',
    identity: {},
    occurredAt: '0001-01-01T00:00:00.001Z',
    idempotencyKey: 'k',
  })
})

test('each identity of a kind is sent with another event', () => {
  const emails = [0, 1, 2].map(
    (place) => (JSON.parse(lineOf(EVENT, PERSON, place)) as { identity: { email: string } }).identity.email,
  )
  expect(emails).toEqual(['a@x.io', 'b@x.io', 'a@x.io'])
})

test.each(['', '{"torn', 'x'.repeat(200_000)])('a file goes on after its last whole line', async (torn) => {
  await writeEvents(directory, ID, ['1', '2'])
  appendFileSync(fileOf(directory, ID), torn)
  await writeEvents(directory, ID, ['3'])
  expect(readFileSync(fileOf(directory, ID), 'utf8')).toBe('1\n2\n3\n')
  expect(statSync(fileOf(directory, ID)).mode & 0o777).toBe(0o600)
})
