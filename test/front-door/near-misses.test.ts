/** A field whose name is close to a known one is ignored with a warning that names both (decisions, "Envelope"). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BrowserTrackSchema } from '../../src/front-door/routes/browser/track-schema.ts'
import { IdentifySchema } from '../../src/front-door/routes/sdk/identify-schema.ts'
import { EventSchema } from '../../src/front-door/routes/sdk/read-event.ts'
import { compileNearMisses } from '../../src/front-door/routes/warn-of-near-misses.ts'
import { openService, type Service } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { BROWSER, type Said, speakTo } from './http-client.ts'
import { atLoad } from '../support/at-load.ts'

const warn = compileNearMisses(EventSchema)
const warnOfIdentify = compileNearMisses(IdentifySchema)
const EVENT = { event: 'signup', identity: { email: 'ada@example.com' } }

const warningOf = (sent: string, meant: string) => `${sent} was ignored: there is no such field; did you mean ${meant}?`

describe('a warning', () => {
  it.each([
    ['occuredAt', 'occurredAt'],
    ['ocuredAt', 'occurredAt'],
    ['idempotency_key', 'idempotencyKey'],
    ['IDEMPOTENCYKEY', 'idempotencyKey'],
    ['__visitor_id__', 'visitorId'],
    ['visitor', 'visitorId'],
    ['Value', 'value'],
    ['vlaue', 'value'],
    ['currancy', 'currency'],
    ['propertys', 'properties'],
    ['trait', 'traits'],
    ['buisnessId', 'businessId'],
  ])('is given for %s', (sent, meant) => {
    expect(warn({ ...EVENT, [sent]: 1 })).toEqual([warningOf(sent, meant)])
  })

  it('is given for the fields of identity and profile', () => {
    const raw = {
      identity: { e_mail: 'a@b', Phone: '1', platform_customer_id: 2 },
      profile: { first_name: 'Ada', timeZone: '' },
    }
    expect(warnOfIdentify(raw)).toEqual([
      warningOf('identity.e_mail', 'identity.email'),
      warningOf('identity.Phone', 'identity.phone'),
      warningOf('identity.platform_customer_id', 'identity.platformCustomerId'),
      warningOf('profile.first_name', 'profile.firstName'),
      warningOf('profile.timeZone', 'profile.timezone'),
    ])
  })

  it('is given for another spelling of a field that was sent too, not for another word', () => {
    expect(warn({ ...EVENT, idempotencyKey: 'a', idempotency_key: 'b' })).toEqual([
      warningOf('idempotency_key', 'idempotencyKey'),
    ])
    expect(warn({ ...EVENT, events: 1, agent: 1, value: 1, valid: true })).toEqual([])
  })

  it.each([
    'context',
    'sentAt',
    'timestamp',
    'userId',
    'anonymousId',
    'messageId',
    'source',
    'amount',
    'price',
    'total',
    'order',
    'orderId',
    'plan',
    'version',
    'channel',
    'locale',
    'Tags',
    'type_',
    'tag',
    'typ',
    'ocurdAt',
    '__proto__',
    'constructor',
    '',
    '_____',
    `occuredAt${'_'.repeat(60)}`,
  ])('is not given for %j', (sent) => {
    expect(warn(JSON.parse(`{"event":"e","identity":{},${JSON.stringify(sent)}:1}`))).toEqual([])
  })

  it('is not given for any known field, in any body', () => {
    for (const schema of [EventSchema, IdentifySchema, BrowserTrackSchema]) {
      const names = Object.keys(schema.properties)
      for (const name of names) expect(compileNearMisses(schema)({ [name]: null })).toEqual([])
    }
  })

  it('holds nothing that no store can keep', () => {
    expect(warn({ ...EVENT, 'valu\0': 1, 'valu\ud800e': 1 })).toEqual([
      warningOf('valu\ufffd', 'value'),
      warningOf('valu\ufffde', 'value'),
    ])
  })

  it('is given ten times at most, and looks at fifty unknown fields of an object', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`filler_${at}`, 1]))
    expect(warn({ ...EVENT, ...many(49), vlaue: 1 })).toEqual([warningOf('vlaue', 'value')])
    expect(warn({ ...EVENT, ...many(50), vlaue: 1 })).toEqual([])
    const near = [
      'valuea',
      'valueb',
      'valuec',
      'valued',
      'valuef',
      'valueg',
      'valueh',
      'valuei',
      'valuej',
      'valuek',
      'valuel',
    ]
    expect(warn({ ...EVENT, ...Object.fromEntries(near.slice(0, 10).map((name) => [name, 1])) })).toHaveLength(10)
    expect(warn({ ...EVENT, ...Object.fromEntries(near.map((name) => [name, 1])) })).toHaveLength(10)
  })

  it('costs little in a body of nothing but names', () => {
    const body = Object.fromEntries(Array.from({ length: 25_000 }, (_, at) => [`va${at}`, 1]))
    warn(body)
    const started = performance.now()
    warn({ ...body, identity: body })
    expect(performance.now() - started).toBeLessThan(atLoad(50))
  })
})

describe('over HTTP', () => {
  let service: Service
  let tenant: TestBusiness
  beforeAll(async () => {
    service = await openService()
    tenant = await createBusiness(service.sql)
  })
  afterAll(() => service.close())

  async function warningsOf(path: string, json: object, more: Said = { key: tenant.secretKey }): Promise<unknown> {
    const { status, body } = await speakTo(service.url)('POST', path, { json, ...more })
    expect(status).toBe(200)
    return body.data['warnings']
  }

  it('track, identify and the endpoint of pages answer with it', async () => {
    expect(await warningsOf('/api/sdk/track', { ...EVENT, occuredAt: 5 })).toEqual([
      warningOf('occuredAt', 'occurredAt'),
    ])
    expect(await warningsOf('/api/sdk/track', { ...EVENT, context: {} })).toBeUndefined()
    const identify = { identity: EVENT.identity, profile: { firstname: 'Ada' } }
    expect(await warningsOf('/api/sdk/identify', identify)).toEqual([
      warningOf('profile.firstname', 'profile.firstName'),
    ])
    const { businessId } = tenant
    const unkeyed = { ...identify, businessId, trait: {}, value: 1 }
    expect(await warningsOf('/api/sdk/identify', unkeyed, {})).toEqual([
      'value was ignored: it needs a secret key',
      warningOf('trait', 'traits'),
      warningOf('profile.firstname', 'profile.firstName'),
    ])
    const visitorId = '5'.repeat(32)
    const page = { businessId, event: 'demo', visitorId, detials: {}, message_id: 'm1' }
    expect(await warningsOf('/api/sdk/browser/track', page, { headers: BROWSER })).toEqual([
      warningOf('detials', 'details'),
      warningOf('message_id', 'messageId'),
    ])
  })

  it('a batch answers with the positions of the items, and with 50 at most', async () => {
    const item = { ...EVENT, Value: 5 }
    expect(await warningsOf('/api/sdk/track/batch', { events: [EVENT, item, EVENT, item] })).toEqual([
      `item 1: ${warningOf('Value', 'value')}`,
      `item 3: ${warningOf('Value', 'value')}`,
    ])
    const all = await warningsOf('/api/sdk/track/batch', { events: Array.from({ length: 51 }, () => item) })
    expect(all).toHaveLength(50)
  })
})
