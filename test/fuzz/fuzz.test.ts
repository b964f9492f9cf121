/**
 * Generated requests to the three endpoints: they cause no internal error and no hang, and every answer follows the
 * contract.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FrontDoorProcess, startFrontDoor } from '../support/front-door-process.ts'
import { type Service, openService } from '../support/service.ts'
import type { RawAnswer } from '../support/speak-raw.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { checkAnswer } from './check-answer.ts'
import type { FuzzRequest } from './make-requests.ts'
import { fuzzEndpoints } from './run-fuzz.ts'

const REQUESTS = 500

describe('the three endpoints', () => {
  let service: Service
  let frontDoor: FrontDoorProcess
  let business: TestBusiness
  beforeAll(async () => {
    service = await openService()
    // Nearly every caller has an address of its own.
    frontDoor = await startFrontDoor(service, { TRUST_PROXY: 'true' })
    business = await createBusiness(service.sql, { rateLimit: 100_000_000 })
  })
  afterAll(async () => {
    await frontDoor.stop()
    await service.close()
  })

  it('answer hundreds of made-up requests by the contract', async () => {
    const counts = await fuzzEndpoints(frontDoor.url, business, { seed: 1, requests: REQUESTS })
    // Enough of each kind to be meaningful.
    for (const [answer, least] of Object.entries(LEAST))
      expect([answer, counts.get(answer)]).toEqual([answer, atLeast(least)])
    const [letters] = await service.sql<[{ n: number }]>`select count(*)::int as n from dead_letters`
    expect(letters.n).toBe(0)
  })
})

const LEAST = { 200: 80, mangled: 50, '400 invalid_request': 20, '400 malformed_json': 10, '401 invalid_api_key': 10 }
const atLeast = (least: number): unknown => expect.toSatisfy((count: number) => count >= least, `at least ${least}`)

/** A judge that finds no faults would find none in a broken product either. */
describe('the judge', () => {
  const callers = {
    businessId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
    secretKey: 'sk_live_0123456789abcdef',
    publishableKey: 'pk_live_fedcba9876543210',
  }
  const contactId = '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d12'
  const now = Date.UTC(2026, 2, 1)
  const ask = (endpoint: string, body: unknown, more: Partial<FuzzRequest> = {}): FuzzRequest => ({
    method: 'POST',
    path: `/api/sdk/${endpoint}`,
    headers: [
      ['Authorization', `Bearer ${callers.secretKey}`],
      ['Content-Type', 'application/json'],
      ['X-Request-Id', 'mine'],
    ],
    body: typeof body === 'string' ? body : JSON.stringify(body),
    framing: 'length',
    ...more,
  })
  const answer = (status: number, body: unknown, headers: Record<string, string> = {}): RawAnswer => ({
    status,
    headers: new Headers({
      'content-type': 'application/json',
      'x-request-id': 'mine',
      'x-content-type-options': 'nosniff',
      ...headers,
    }),
    body: JSON.stringify(body),
  })
  const success = (data: object, status = 200) => answer(status, { success: true, message: 'Done.', data })
  const failure = (status: number, code: string, more: object = {}) =>
    answer(status, { success: false, message: 'No.', error: { code, ...more } })
  const judge = (request: FuzzRequest, given: RawAnswer) => checkAnswer(request, given, callers, now)

  const EVENT = { event: ' paid ', identity: { email: 'ada@example.com' }, value: 10.5 }
  const TRACKED = {
    contactId,
    event: 'paid',
    isNew: true,
    deduped: false,
    interpreted: { type: 'purchase', countedRevenue: 10.5 },
  }
  const BATCH = { events: [EVENT, { event: '' }] }
  const RECORDED = {
    received: 2,
    recorded: 1,
    deduped: 0,
    failed: 1,
    failures: [{ index: 1, error: 'event is wrong' }],
  }
  const IDENTIFIED = {
    contactId,
    isNew: true,
    linkedVisitor: false,
    subscriptions: { email: false, sms: false, whatsapp: false, push: false },
  }
  const PAGE = { identity: EVENT.identity, traits: { plan: 'pro' }, businessId: callers.businessId }
  const unkeyed = { headers: ask('identify', '').headers.slice(1) }
  const open = { 'access-control-allow-origin': '*' }

  it('accepts right answers', () => {
    expect(judge(ask('track', EVENT), success(TRACKED))).toEqual([])
    expect(judge(ask('track/batch', BATCH), success(RECORDED))).toEqual([])
    const warned = { ...IDENTIFIED, warnings: ['traits were ignored'] }
    expect(
      judge(ask('identify', PAGE, unkeyed), { ...success(warned), headers: answer(200, 0, open).headers }),
    ).toEqual([])
    expect(judge(ask('track', { event: 'e' }), failure(400, 'identity_required'))).toEqual([])
    expect(judge(ask('track', '{'), failure(400, 'malformed_json'))).toEqual([])
    expect(judge(ask('track', EVENT, { method: 'HEAD' }), { ...answer(405, 0, { allow: 'POST' }), body: '' })).toEqual(
      [],
    )
  })

  it.each<[string, FuzzRequest, RawAnswer]>([
    ['a fault of ours', ask('track', EVENT), failure(500, 'internal')],
    ['a refusal of what is good', ask('track', EVENT), failure(400, 'invalid_request')],
    ['a success of what is wrong', ask('track', { ...EVENT, event: 5 }), success(TRACKED)],
    ['another fault than there is', ask('track', { event: 'e' }), failure(400, 'invalid_occurred_at')],
    ['a code that is none', ask('track', { event: 'e' }), failure(400, 'bad')],
    ['a code under another status', ask('track', { event: 'e' }), failure(403, 'identity_required')],
    ['more in an error than is said', ask('track', '{'), failure(400, 'malformed_json', { stack: 'here' })],
    ['no envelope', ask('track', EVENT), answer(200, TRACKED)],
    ['a request id that is not mine', ask('track', EVENT), { ...success(TRACKED), headers: new Headers() }],
    [
      'a key',
      ask('track', '{'),
      failure(400, 'malformed_json', { issues: [{ path: '', message: callers.secretKey }] }),
    ],
    [
      'a trace of the code',
      ask('track', '{'),
      failure(400, 'malformed_json', { issues: [{ path: '', message: 'a.ts:5' }] }),
    ],
    ['another name', ask('track', EVENT), success({ ...TRACKED, event: ' paid ' })],
    [
      'another amount',
      ask('track', EVENT),
      success({ ...TRACKED, interpreted: { type: 'purchase', countedRevenue: 10 } }),
    ],
    ['another meaning', ask('track', EVENT), success({ ...TRACKED, interpreted: { type: 'none', countedRevenue: 0 } })],
    ['a repeat without a key', ask('track', EVENT), success({ ...TRACKED, deduped: true })],
    [
      'a repeat that warns of its amount',
      ask('track', { ...EVENT, idempotencyKey: 'k' }),
      success({
        ...TRACKED,
        deduped: true,
        interpreted: { type: 'purchase', countedRevenue: 0 },
        warnings: ['value was rounded to six decimals'],
      }),
    ],
    ['fields of another shape', ask('track', EVENT), success({ ...TRACKED, contactId: 'c' })],
    ['numbers that do not add up', ask('track/batch', BATCH), success({ ...RECORDED, recorded: 2 })],
    [
      'a good item that failed',
      ask('track/batch', BATCH),
      success({ ...RECORDED, failures: [{ index: 0, error: 'e' }] }),
    ],
    ['a page that cannot read', ask('identify', PAGE), success(IDENTIFIED)],
    ['CORS on track', ask('track', EVENT), { ...success(TRACKED), headers: answer(200, 0, open).headers }],
    [
      'traits dropped silently',
      ask('identify', PAGE, unkeyed),
      { ...success(IDENTIFIED), headers: answer(200, 0, open).headers },
    ],
    ['an unkeyed event', ask('track', EVENT, unkeyed), success(TRACKED)],
    ['a 401 without a scheme', ask('track', EVENT, unkeyed), failure(401, 'missing_api_key')],
    ['a body to HEAD', ask('track', EVENT, { method: 'HEAD' }), failure(405, 'method_not_allowed')],
  ])('sees %s', (_, request, given) => {
    expect(judge(request, given)).not.toEqual([])
  })
})
