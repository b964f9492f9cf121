/** What a worker accepts from the stream: nothing that a store would always refuse. */
import { describe, expect, it } from 'vitest'
import type { CaptureRequest, IngestRequest } from '../../src/stream/entry.ts'
import { decodeEntry, encodeEntry, describeInvalid } from '../../src/stream/decode-entry.ts'
import { eventFact, track } from '../support/facts.ts'
import { captureOf, hitOf, newBusiness, newVisitor } from '../web-events/web-lab.ts'

const capture = (seed: Partial<CaptureRequest> = {}) => captureOf(newBusiness(), newVisitor(), [hitOf()], seed)
const cameAt = (at: number, url = 'https://a.example/') => capture({ touches: { first: { at, url }, latest: null } })
const EDGE = 8_640_000_000_000_000

describe('an instant', () => {
  it.each([
    ['the last there is', EDGE, -EDGE, undefined],
    ['one beyond', EDGE + 1, -EDGE - 1, 'malformed at'],
    ['a number without end', 1e300, -1e300, 'malformed at'],
  ])('is accepted if a date can hold it: %s', (_, late, early, reason) => {
    const expected = reason === undefined ? undefined : (expect.stringContaining(reason) as string)
    const event = (occurredAt: number) => ({
      ...track(newBusiness(), eventFact('e', {}, { occurredAt })),
      n: 1,
      requestId: 'r',
    })
    for (const at of [late, early]) {
      expect(describeInvalid(event(at))).toEqual(expected)
      expect(describeInvalid(cameAt(at))).toEqual(expected)
      expect(describeInvalid(capture({ receivedAt: at }))).toEqual(expected)
    }
    expect(describeInvalid(capture({ hits: [hitOf({ occurredAt: late, activeMs: late, idleMs: late })] }))).toEqual(
      expected,
    )
  })
})

it('takes the conditions of a choice, if they are of their types', () => {
  const choice = (conditions: object) =>
    describeInvalid({
      kind: 'subscribe',
      n: 1,
      requestId: 'r',
      businessId: newBusiness(),
      receivedAt: 1,
      contactId: 'c',
      channels: { sms: true },
      method: 'page',
      ...conditions,
    })
  expect(choice({ changesOnly: true, replaces: { sms: 1 } })).toBeUndefined()
  expect(choice({ changesOnly: 'yes' })).toContain('malformed at /changesOnly')
  expect(choice({ replaces: { sms: 'then' } })).toContain('malformed at /replaces/sms')
})

it.each(['\0', '\ud800', '\udc00x'])('takes no text of how a visitor came that Postgres cannot hold: %j', (text) => {
  expect(describeInvalid(cameAt(1, `https://a.example/${text}`))).toContain('malformed at /touches/first')
  expect(describeInvalid(cameAt(1, 'https://a.example/😀'))).toBeUndefined()
})

it('sets one request aside, and takes its neighbours', () => {
  const requests: IngestRequest[] = [capture(), capture({ receivedAt: 1e300 }), capture()]
  const payload = encodeEntry(
    'front-door',
    requests.map((request) => JSON.stringify(request)),
  )
  const read = decodeEntry('1-1', ['d', payload], 'web')
  expect(read.requests.map(({ request }) => request)).toEqual([requests[0], requests[2]])
  expect(read.poisoned).toMatchObject([
    {
      streamId: '1-1',
      reason:
        'The capture request is malformed at /receivedAt: Expected integer to be less or equal to 8640000000000000.',
    },
  ])
})
