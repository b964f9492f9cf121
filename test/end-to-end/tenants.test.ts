/** Tenants are apart (design, promise 10): two businesses with the same people, keys, fields and visitors see nothing of each other. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Speak, speakTo } from '../front-door/door-support.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'

let service: Service
let speak: Speak
let mine: TestBusiness
let theirs: TestBusiness
let myContact: string
let theirContact: string
let theirCampaign: string
beforeAll(async () => {
  service = await openService()
  speak = speakTo(service.url)
  mine = await createBusiness(service.sql)
  theirs = await createBusiness(service.sql)
  myContact = await record(mine, 'mine')
  theirContact = await record(theirs, 'theirs')
  const campaign = { name: 'c', trigger: { event: 'signup' } }
  const made = await speak('POST', '/api/campaigns', { key: theirs.secretKey, json: campaign })
  theirCampaign = (made.body.data['campaign'] as { campaignId: string }).campaignId
})
afterAll(() => service.close())

async function record(business: TestBusiness, word: string): Promise<string> {
  const event = {
    event: 'signup',
    identity: { email: 'ann@x.io', phone: '+972541234567', platformCustomerId: 7 },
    idempotencyKey: 'same-key',
    visitorId: 'same-visitor',
    traits: { [`field_of_${word}`]: word },
    tags: [word],
    properties: { word },
    value: word === 'mine' ? 1 : 2,
  }
  const answer = await speak('POST', '/api/sdk/track', { key: business.secretKey, json: event })
  expect(answer.status).toBe(200)
  expect(answer.body.data).toMatchObject({ isNew: true, deduped: false })
  return String(answer.body.data['contactId'])
}

const ask = (method: string, path: string, json?: unknown): Promise<Answer> =>
  speak(method, path, { key: mine.secretKey, ...(json === undefined ? {} : { json }) })

describe('a business', () => {
  it('has people of its own, though every identity is the same', () => {
    expect(myContact).not.toBe(theirContact)
  })

  it.each([
    ['GET', () => `/api/contacts/${theirContact}`],
    ['GET', () => `/api/contacts/${theirContact}/timeline`],
    ['GET', () => `/api/contacts/${theirContact}/identifications`],
    ['DELETE', () => `/api/contacts/${theirContact}`],
    ['GET', () => `/api/campaigns/${theirCampaign}`],
    ['POST', () => `/api/campaigns/${theirCampaign}/publish`],
  ])('is told 404 for what is another’s: %s %#', async (method, path) => {
    const answer = await ask(method, path())
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
    expect(answer.text).not.toContain('theirs')
  })

  it('cannot change another’s subscriptions', async () => {
    const answer = await ask('PUT', `/api/contacts/${theirContact}/subscriptions`, { email: true, method: 'form' })
    expect(answer.status).toBe(404)
    const theirView = await speak('GET', `/api/contacts/${theirContact}`, { key: theirs.secretKey })
    expect(theirView.body.data['contact']).toMatchObject({ subscriptions: { email: false }, tags: ['theirs'] })
  })

  it.each(['email=ann@x.io', 'phone=%2B972541234567', 'platformCustomerId=7'])(
    'finds only its own by %s',
    async (query) => {
      const answer = await ask('GET', `/api/contacts?${query}`)
      const contacts = answer.body.data['contacts'] as { contactId: string; revenue: { total: number } }[]
      expect(contacts.map((contact) => [contact.contactId, contact.revenue.total])).toEqual([[myContact, 1]])
    },
  )

  it('lists only its own fields, campaigns and timeline', async () => {
    const fields = await ask('GET', '/api/custom-fields')
    expect(fields.body.data['customFields']).toMatchObject([{ key: 'field_of_mine' }])
    const campaigns = await ask('GET', '/api/campaigns')
    expect(campaigns.body.data['campaigns']).toEqual([])
    await service.shipped()
    const timeline = await ask('GET', `/api/contacts/${myContact}/timeline`)
    expect(timeline.body.data['events']).toMatchObject([{ properties: { word: 'mine' } }])
  })

  it('may not name another in a body, and the limit is its own', async () => {
    const identity = { email: 'ann@x.io' }
    const answer = await ask('POST', '/api/sdk/track', { event: 'e', identity, businessId: theirs.businessId })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'business_mismatch'])
  })

  it('is apart in every view of ClickHouse', async () => {
    await service.shipped()
    for (const view of ['timeline', 'contacts', 'contact_event_statistics']) {
      const rows = await service.clickhouse.query({
        query: `select distinct toString(contact_id) as id from ${view} where business_id = {b:UUID}`,
        query_params: { b: mine.businessId },
        format: 'JSONEachRow',
      })
      expect([view, await rows.json()]).toEqual([view, [{ id: myContact }]])
    }
  })
})
