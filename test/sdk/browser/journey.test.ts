/** From the click on an ad to the revenue: one person, with their page views, their touch and their order. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BROWSER, speakTo } from '../../front-door/http-client.ts'
import { openService, type Service } from '../../support/service.ts'
import { createBusiness, type TestBusiness } from '../../support/stack.ts'
import { setVisible, until } from './open-chromium.ts'
import { page as pageOf } from './open-site.ts'
import { openWeb, SHOP } from './open-web.ts'

const web = openWeb()
let service: Service
let business: TestBusiness
beforeAll(async () => {
  service = await openService()
  business = await createBusiness(service.sql)
})
afterAll(() => service.close())

const EMAIL = 'ann@x.io'
const ask = (method: string, path: string, json?: object) =>
  speakTo(service.url)(method, path, { key: business.secretKey, ...(json && { json }) })

interface Contact {
  contactId: string
  visitorIds: string[]
}
async function findContact(): Promise<Contact | undefined> {
  return ((await ask('GET', `/api/contacts?email=${EMAIL}`)).body.data['contacts'] as Contact[])[0]
}
async function pagesOf(visitor: string): Promise<{ path: string; contact_id: string | null }[]> {
  const found = await service.clickhouse.query({
    query: `select path, contact_id from web_page_views
      where business_id = {business: UUID} and visitor_id = {visitor: String} order by viewed_at`,
    query_params: { business: business.businessId, visitor },
    format: 'JSONEachRow',
  })
  return await found.json()
}

it('an ad click, anonymous browsing, an identify and a purchase on the server end as one contact', async () => {
  const tag = `<script async src="${service.url}/sluice.js" data-business="${business.businessId}"></script>`
  for (const path of ['/sale', '/pricing', '/account']) web.site.pages[path] = pageOf(tag)
  const { page } = await web.visit({ userAgent: BROWSER['user-agent'] })
  const open = async (path: string) => {
    await page.goto(web.site.at(SHOP, path))
    const visitor = await until(() => page.evaluate<string | false>(`'sluice' in window && sluice.visitorId()`))
    // A page that is being closed sends its last request with the user agent of a headless browser, which counts as a
    // bot.
    await setVisible(page, false)
    await until(async () => (await pagesOf(visitor)).some((seen) => path.startsWith(seen.path)))
    return visitor
  }
  const visitorId = await open('/sale?gclid=G1&utm_source=google&utm_medium=cpc&utm_campaign=spring')
  await open('/pricing')
  await page.evaluate(`sluice.track('pricing_page_viewed')`)
  await open('/account')
  await page.evaluate(`sluice.identify({ email: '${EMAIL}' }, { name: 'Ann Lee' })`)
  const { contactId } = await until(() => findContact())
  await ask('POST', '/api/sdk/track', { event: 'purchase', identity: { email: EMAIL }, value: 49.9, currency: 'EUR' })

  await service.shipped()
  expect(await pagesOf(visitorId)).toEqual(
    ['/sale', '/pricing', '/account'].map((path) => ({ path, contact_id: contactId })),
  )
  expect(await service.sql`select 1 from contacts`).toHaveLength(1)
  for (const model of ['first', 'last'])
    expect((await ask('GET', `/api/analytics/attribution?model=${model}`)).body.data).toMatchObject({
      rows: [
        {
          channel: 'paid_search',
          source: 'google',
          medium: 'cpc',
          campaign: 'spring',
          currency: 'EUR',
          revenue: 49.9,
          refunds: 0,
          orders: 1,
          contacts: 1,
        },
      ],
    })
  const contact = await until(async () => {
    const read = (await ask('GET', `/api/contacts/${contactId}`)).body.data['contact'] as {
      engagement: { score: number } | null
    }
    return read.engagement !== null && read
  })
  const touch = { clickIds: { gclid: 'G1' }, utm: { source: 'google', medium: 'cpc', campaign: 'spring' } }
  expect(contact).toMatchObject({
    firstName: 'Ann',
    stage: 'Decision',
    orderCount: 1,
    revenue: { byCurrency: { EUR: 49.9 } },
    visitorIds: [visitorId],
    visitors: [{ visitorId, firstTouch: touch, latestTouch: touch }],
    events: [{ event: 'pricing_page_viewed' }, { event: 'purchase' }],
  })
  // Two events, three pages and a short time.
  expect(contact.engagement?.score).toBeGreaterThanOrEqual(36)
})
