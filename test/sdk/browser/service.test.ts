// @long
/**
 * The script and the service together: a page on a site of its own, the front door elsewhere, and nothing in between.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSER, speakTo } from '../../front-door/http-client.ts'
import { openService, type Service } from '../../support/service.ts'
import { createBusiness, type TestBusiness } from '../../support/stack.ts'
import { settled, until } from './open-chromium.ts'
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

const HEADLESS = BROWSER['user-agent'].replace('Chrome', 'HeadlessChrome')

interface Contact {
  contactId: string
  firstName: string
  visitorIds: string[]
}

/** Opens a page of the shop with the tag, in a browser that does not report that it is automated. */
async function openShop(path: string, userAgent: string | undefined = BROWSER['user-agent']) {
  const attributes = `data-business="${business.businessId}" data-autocapture="off"`
  web.site.pages[path] = pageOf(`<script async src="${service.url}/sluice.js" ${attributes}></script>`)
  const { page, complaints } = await web.visit({ userAgent })
  const open = async (query = '') => {
    await page.goto(web.site.at(SHOP, path + query))
    return await until(() => page.evaluate<string | false>(`'sluice' in window && sluice.visitorId()`))
  }
  return { page, complaints, open }
}

async function findContact(email: string): Promise<Contact | undefined> {
  const found = await speakTo(service.url)('GET', `/api/contacts?email=${email}`, { key: business.secretKey })
  return (found.body.data['contacts'] as Contact[])[0]
}

describe('a page with the tag', () => {
  it('links its visitor to a person', async () => {
    const { page, open } = await openShop('/account')
    const visitorId = await open()
    await page.evaluate(`sluice.identify({ email: 'ann@x.io' }, { name: 'Ann Lee' })`)
    expect(await until(() => findContact('ann@x.io'))).toMatchObject({ firstName: 'Ann', visitorIds: [visitorId] })
  })

  it('sends what its visitor did, before and after they were known, and how they came', async () => {
    const { page, open } = await openShop('/pricing')
    const visitorId = await open('?utm_source=news&gclid=g1')
    await page.evaluate(`sluice.track('pricing_page_viewed', { plan: 'pro', value: 9 })`)
    await until(async () => (await service.sql`select 1 from visitor_events`).length === 1)
    await page.evaluate(`sluice.identify({ email: 'bea@x.io' }, { name: 'Bea Lee' })`)
    const contact = await until(() => findContact('bea@x.io'))
    await page.evaluate(`sluice.track('demo_requested')`)
    const read = async () => {
      const answer = await speakTo(service.url)('GET', `/api/contacts/${contact.contactId}/timeline`, {
        key: business.secretKey,
      })
      const events = answer.body.data['events'] as object[]
      return events.length === 2 && events
    }
    expect(await until(read)).toMatchObject([
      { event: 'demo_requested', source: 'browser', visitorId },
      { event: 'pricing_page_viewed', properties: { plan: 'pro', value: 9 }, countedRevenue: 0, visitorId },
    ])
    const touch = { utm: { source: 'news' }, clickIds: { gclid: 'g1' } }
    expect(await findContact('bea@x.io')).toMatchObject({
      stage: 'Consideration',
      visitors: [{ visitorId, firstTouch: touch, latestTouch: touch }],
    })
  })

  it('says once on the console of a headless browser that nothing is recorded, unless bots are allowed', async () => {
    const { page, complaints, open } = await openShop('/tested', HEADLESS)
    const visitorId = await open()
    await page.evaluate(`sluice.track('demo_requested')`)
    await until(() => complaints.length > 0)
    await page.evaluate(`sluice.track('demo_requested')`)
    await until(() => settled(page))
    expect(complaints.splice(0)).toEqual([expect.stringMatching(/^Sluice: this browser counts as a bot/)])
    const kept = () => service.sql`select 1 from visitor_events where visitor_id = ${visitorId}`
    expect(await kept()).toHaveLength(0)
    await service.sql`update businesses set bots = 'allow' where id = ${business.businessId}`
    // The change takes effect everywhere within a second.
    await page.waitForTimeout(1000)
    await page.evaluate(`sluice.track('demo_requested')`)
    await until(async () => (await kept()).length === 1)
  })

  it('waits as long as Retry-After says when it has sent too much', async () => {
    const { page, open } = await openShop('/loud')
    await open()
    const answers: (number | undefined)[] = []
    page.on('response', (response) => answers.push(response.status()))
    await page.evaluate(`for (let n = 0; n < 61; n += 1) sluice.track('clicked', { n })`)
    await until(() => Promise.resolve(answers.includes(429)))
    const paused = await until(() =>
      page.evaluate<number | false>(`Number(localStorage.getItem('sluice_pause')) - Date.now()`),
    )
    expect(paused).toBeGreaterThan(30_000)
    expect(paused).toBeLessThanOrEqual(60_000)
  })
})
