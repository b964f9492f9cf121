/**
 * What a stranger who knows a business's id and a person's email can do to the person: who owns which browsers, and
 * what these bring (decisions, "Callers without a secret key"). With `confirmed`, nothing; with `open`, what
 * docs/security.md lists.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addTo } from '../deliveries/delivery-lab.ts'
import { BROWSER, type Speak, speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ TRUST_PROXY: 'true' }))
let speak: Speak
let shop: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  shop = await createBusiness(service.sql)
  await addTo(service.sql, shop.businessId, 'webhook', { settings: { all: true } })
})

const VICTIM = { email: 'victim@x.io' }
const OWN = 'a'.repeat(32)
const STRANGER = 'e'.repeat(32)
let addresses = 0
type Data = Record<string, unknown> & { contactId: string }

async function setPages(mode: 'open' | 'confirmed'): Promise<void> {
  await service.sql`update businesses set page_identify = ${mode}, config_version = config_version + 1
    where id = ${shop.businessId}`
}
async function call(path: string, json: object, key?: string): Promise<Data> {
  addresses += 1
  const headers = { ...BROWSER, 'x-forwarded-for': `203.0.${addresses >> 8}.${addresses & 255}` }
  const answer = await speak('POST', path, { json, headers, ...(key && { key }) })
  expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text])
  return answer.body.data as Data
}
const serverSays = (event: string, more: object = {}) =>
  call('/api/sdk/track', { event, identity: VICTIM, ...more }, shop.secretKey)
const serverIdentifies = (visitorId: string) =>
  call('/api/sdk/identify', { identity: VICTIM, visitorId }, shop.secretKey)
const pageIdentifies = (visitorId: string, more: object = {}) =>
  call('/api/sdk/identify', { businessId: shop.businessId, identity: VICTIM, visitorId, ...more })
const pageSays = (visitorId: string, event: string, more: object = {}) =>
  call('/api/sdk/browser/track', { businessId: shop.businessId, visitorId, event, ...more })
const click = (gclid: string) => {
  const touch = {
    ageMs: 1000,
    url: `https://shop.example/?gclid=${gclid}`,
    utm: { source: gclid },
    clickIds: { gclid },
  }
  return { first: touch, latest: touch }
}

async function publish(trigger: string, goal: string | null): Promise<void> {
  const said = {
    key: shop.secretKey,
    json: { name: trigger, trigger: { event: trigger }, goal: goal && { event: goal } },
  }
  const { body } = await speak('POST', '/api/campaigns', said)
  const { campaignId } = body.data['campaign'] as { campaignId: string }
  expect((await speak('POST', `/api/campaigns/${campaignId}/publish`, { key: shop.secretKey })).status).toBe(200)
}

/** Returns everything that callers, ad platforms and analysts learn about the person. */
async function all(contactId: string) {
  await service.shipped()
  const { body } = await speak('GET', `/api/contacts/${contactId}`, { key: shop.secretKey })
  const timeline = await speak('GET', `/api/contacts/${contactId}/timeline`, { key: shop.secretKey })
  // The score decreases every minute.
  const { engagement: _engagement, ...contact } = body.data['contact'] as {
    engagement: object
    visitorIds: string[]
    orderCount: number
    enrolments: object[]
  }
  const read = async (query: string) =>
    await (
      await service.clickhouse.query({
        query,
        query_params: { business: shop.businessId, contact: contactId },
        format: 'JSONEachRow',
      })
    ).json<Record<string, string>>()
  const where = 'where business_id = {business: UUID} and contact_id = {contact: UUID}'
  return {
    contact,
    timeline: (timeline.body.data['events'] as { event: string }[]).map(({ event }) => event).toSorted(),
    delivered: await service.sql<{ event: string; gclid: string | null }[]>`
      select event, clicks -> 'gclid' ->> 'id' as gclid from deliveries
      where business_id = ${shop.businessId} and contact_id = ${contactId} order by id`,
    touches: await read(`select source from touches ${where} order by source`),
    hits: await read(`select url from web_page_views ${where}`),
    credited: await read(`select first_source as first, last_source as last from attributed_purchases ${where}`),
  }
}

const hit = { id: 'h1', kind: 'page_view', ageMs: 0, pageId: 'p1', url: 'https://shop.example/stolen' }
const capture = (visitorId: string) =>
  call('/api/sdk/browser/capture', { businessId: shop.businessId, visitorId, hits: [hit], ...click('evil') })

/** Sends everything that a stranger's browser can send once it has named the victim. */
async function attack(visitorId = STRANGER): Promise<void> {
  await pageSays(visitorId, 'before', click('evil'))
  await pageIdentifies(visitorId)
  await pageIdentifies(visitorId, { ageMs: 3_600_000 })
  await capture(visitorId)
  for (const event of ['demo', 'invoice_paid', 'purchase', 'lead_submitted', 'pricing_page_viewed'])
    await pageSays(visitorId, event, click('evil'))
  await pageSays(visitorId, 'demo', { ageMs: 600_000 })
}

describe('a stranger who names a person whom servers know', () => {
  it('changes nothing of the person with confirmed: not now, not with the next purchase', async () => {
    await setPages('confirmed')
    await publish('demo', null)
    await publish('signup', 'invoice_paid')
    const { contactId } = await serverSays('signup')
    const before = await all(contactId)
    await attack()
    expect(await all(contactId)).toEqual(before)
    await serverSays('purchase', { value: 10 })
    await serverSays('lead_submitted')
    const after = await all(contactId)
    expect(after).toMatchObject({
      contact: { visitorIds: [], orderCount: 1, enrolments: [{ state: 'active' }] },
      timeline: ['lead_submitted', 'purchase', 'signup'],
      delivered: [{ gclid: null }, { gclid: null }],
      touches: [],
      hits: [],
      credited: [{ first: '', last: '' }],
    })
  })

  it('is believed with open', async () => {
    await publish('demo', null)
    const { contactId } = await serverSays('signup')
    await attack()
    await serverSays('purchase', { value: 10 })
    const after = await all(contactId)
    expect(after).toMatchObject({
      contact: { visitorIds: [STRANGER], orderCount: 3, enrolments: [{ state: 'active' }] },
      touches: [{ source: 'evil' }],
      credited: expect.arrayContaining([{ first: 'evil', last: 'evil' }]) as unknown,
    })
    expect(after.delivered).toContainEqual({ event: 'purchase', gclid: 'evil' })
    expect(after.timeline).toContain('before')
  })

  it('before servers know them leaves what was said until then, and no click, touch or later event', async () => {
    await setPages('confirmed')
    await pageSays(STRANGER, 'before', click('evil'))
    const { contactId } = await pageIdentifies(STRANGER)
    await serverSays('purchase', { value: 10 })
    const used = await all(contactId)
    expect(used).toMatchObject({
      contact: { visitorIds: [], orderCount: 1 },
      timeline: ['before', 'purchase'],
      delivered: [{ gclid: null }],
      touches: [],
      credited: [{ first: '', last: '' }],
    })
    await attack()
    expect(await all(contactId)).toEqual(used)
  })

  it('keeps no true subscription from a second call', async () => {
    await setPages('confirmed')
    const { contactId } = await serverSays('signup')
    const json = { email: true, sms: true, method: 'form' }
    const path = `/api/contacts/${contactId}/subscriptions`
    expect((await speak('PUT', path, { key: shop.secretKey, json })).status).toBe(200)
    const none = { email: false, sms: false, whatsapp: false, push: false }
    for (let n = 0; n < 3; n += 1) expect((await pageIdentifies(STRANGER))['subscriptions']).toEqual(none)
    await serverIdentifies(OWN)
    expect((await pageIdentifies(OWN))['subscriptions']).toEqual({ ...none, email: true, sms: true })
    expect((await pageIdentifies(STRANGER))['subscriptions']).toEqual(none)
  })

  it('with very many browsers does not displace the person’s own', async () => {
    await setPages('confirmed')
    const { contactId } = await serverSays('signup')
    await pageSays(OWN, 'came', click('own'))
    await serverIdentifies(OWN)
    for (let n = 0; n < 60; n += 1) await pageIdentifies(n.toString(16).padStart(32, '0'))
    await serverSays('purchase', { value: 10 })
    expect(await all(contactId)).toMatchObject({
      contact: { visitorIds: [OWN] },
      delivered: [{ event: 'purchase', gclid: 'own' }],
      touches: [{ source: 'own' }],
      credited: [{ first: 'own', last: 'own' }],
    })
  })
})

describe('the person’s own browser', () => {
  it('brings its visits, clicks and events once the server has named it, in every store', async () => {
    await setPages('confirmed')
    const { contactId } = await serverSays('signup')
    await pageSays(OWN, 'looked', click('own'))
    await call('/api/sdk/browser/capture', { businessId: shop.businessId, visitorId: OWN, hits: [hit] })
    await pageIdentifies(OWN)
    await pageSays(OWN, 'demo')
    expect(await all(contactId)).toMatchObject({ timeline: ['signup'], touches: [], hits: [] })
    await serverSays('purchase', { value: 10, visitorId: OWN })
    expect(await all(contactId)).toMatchObject({
      contact: { visitorIds: [OWN] },
      timeline: ['demo', 'looked', 'purchase', 'signup'],
      delivered: [{ event: 'purchase', gclid: 'own' }],
      touches: [{ source: 'own' }],
      hits: [{ url: hit.url }],
      credited: [{ first: 'own', last: 'own' }],
    })
  })

  it('loses what waits in the stranger’s browser with the person’s erasure', async () => {
    await setPages('confirmed')
    const { contactId } = await serverSays('signup')
    await attack()
    expect((await speak('DELETE', `/api/contacts/${contactId}`, { key: shop.secretKey })).status).toBe(200)
    const tables = ['visitors', 'visitor_links', 'visitor_events', 'visitor_touches', 'contact_visitors']
    for (const table of tables) {
      const rows = await service.sql`select from ${service.sql(table)} where business_id = ${shop.businessId}`
      expect([table, rows.length]).toEqual([table, 0])
    }
  })
})
