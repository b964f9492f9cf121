/** What the script captures automatically, from a real page to the views of analysts. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BROWSER } from '../../front-door/http-client.ts'
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

interface View {
  contact_id: string | null
  host: string
  path: string
  title: string
  depth: number
  active_ms: string
}

async function viewsOf(visitor: string): Promise<View[]> {
  const found = await service.clickhouse.query({
    query: 'select * from web_page_views where business_id = {business: UUID} and visitor_id = {visitor: String}',
    query_params: { business: business.businessId, visitor },
    format: 'JSONEachRow',
  })
  return await found.json<View>()
}

it('sends page views, scrolling and time, and how the visitor came', async () => {
  const attributes = `data-business="${business.businessId}"`
  web.site.pages['/read'] = pageOf(`<script async src="${service.url}/sluice.js" ${attributes}></script>`)
  const { page } = await web.visit({ userAgent: BROWSER['user-agent'] })
  await page.goto(web.site.at(SHOP, '/read?utm_source=news'))
  const visitorId = await until(() => page.evaluate<string | false>(`'sluice' in window && sluice.visitorId()`))
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await page.waitForTimeout(1500)
  // A page that is being closed sends its last request with the user agent of a headless browser, which counts as a
  // bot.
  await setVisible(page, false)
  const found = await until(async () => {
    const [view] = await viewsOf(visitorId)
    return view && view.depth === 100 && Number(view.active_ms) >= 1000 && view
  })
  expect(found).toMatchObject({ host: SHOP, path: '/read', title: 'A page', contact_id: null })
  // Postgres commits what is in ClickHouse a moment later.
  const touch = await until(async () => {
    const [seen] = await service.sql<{ first_touch: { utm: object } }[]>`
      select first_touch from visitors where business_id = ${business.businessId} and visitor_id = ${visitorId}`
    return seen && seen.first_touch
  })
  expect(touch.utm).toEqual({ source: 'news' })
})
