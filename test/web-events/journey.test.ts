/** A browser from its first page to the erasure of its person, through the whole service. */
import { beforeAll, expect, it } from 'vitest'
import { speakTo } from '../front-door/http-client.ts'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { newVisitor, query } from './web-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
const headers = { 'user-agent': BROWSER }

const service = useOpened(openService)
let business: TestBusiness
beforeAll(async () => {
  business = await createBusiness(service.sql)
})

const ask = (method: string, path: string, json?: object, key?: string) =>
  speakTo(service.url)(method, path, { key, headers, ...(json && { json }) })

async function view(visitorId: string, id: string): Promise<void> {
  const hit = { id, kind: 'page_view', ageMs: 0, pageId: id, url: `https://a.example/${id}` }
  const { businessId } = business
  const answer = await ask('POST', '/api/sdk/browser/capture', { businessId, visitorId, hits: [hit] })
  expect(answer.status).toBe(200)
}

const pagesOf = (visitor: string) =>
  query<{ path: string; contact_id: string | null }>(
    service.clickhouse,
    `select path, contact_id from web_page_views
    where business_id = {business: UUID} and visitor_id = {visitor: String} order by viewed_at, path`,
    { business: business.businessId, visitor },
  )

it('pages are linked to the person who is identified, and are deleted with them', async () => {
  const visitor = newVisitor()
  await view(visitor, 'before')
  await expect.poll(() => pagesOf(visitor), { timeout: PATIENCE_MS }).toEqual([{ path: '/before', contact_id: null }])
  const identify = { identity: { email: 'ann@x.io' }, visitorId: visitor }
  const { body } = await ask('POST', '/api/sdk/identify', identify, business.secretKey)
  const contact = String(body.data['contactId'])
  await view(visitor, 'then')
  await expect
    .poll(() => pagesOf(visitor), { timeout: PATIENCE_MS })
    .toEqual([
      { path: '/before', contact_id: contact },
      { path: '/then', contact_id: contact },
    ])
  expect((await ask('DELETE', `/api/contacts/${contact}`, undefined, business.secretKey)).status).toBe(200)
  await view(visitor, 'after')
  await expect.poll(() => pagesOf(visitor), { timeout: PATIENCE_MS }).toEqual([{ path: '/after', contact_id: null }])
  const left = 'select hit_id from web_events where business_id = {business: UUID}'
  expect(await query(service.clickhouse, left, { business: business.businessId })).toEqual([{ hit_id: 'after' }])
})

it('a page view by itself starts no campaign, whatever its name; the same name said on purpose does', async () => {
  const visitor = newVisitor()
  const campaign = { name: 'Viewers', trigger: { event: 'page_view' } }
  const { body } = await ask('POST', '/api/campaigns', campaign, business.secretKey)
  const { campaignId } = body.data['campaign'] as { campaignId: string }
  await ask('POST', `/api/campaigns/${campaignId}/publish`, {}, business.secretKey)
  const identity = { email: 'bob@x.io' }
  await ask('POST', '/api/sdk/identify', { identity, visitorId: visitor }, business.secretKey)
  await view(visitor, 'quiet')
  await expect.poll(async () => (await pagesOf(visitor)).length, { timeout: PATIENCE_MS }).toBe(1)
  const enrolments = async () => {
    const found = await ask('GET', '/api/contacts?email=bob@x.io', undefined, business.secretKey)
    return (found.body.data['contacts'] as { enrolments: object[] }[])[0]?.enrolments.length
  }
  expect(await enrolments()).toBe(0)
  await ask('POST', '/api/sdk/track', { event: 'page_view', identity }, business.secretKey)
  expect(await enrolments()).toBe(1)
})
