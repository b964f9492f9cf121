/** The script and the service together: a page on a site of its own, the front door elsewhere, nothing in between. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { speakTo } from '../../front-door/door-support.ts'
import { openService, type Service } from '../../support/service.ts'
import { createBusiness, type TestBusiness } from '../../support/stack.ts'
import { until } from './open-chromium.ts'
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

interface Contact {
  firstName: string
  visitorIds: string[]
}

async function findContact(email: string): Promise<Contact | undefined> {
  const found = await speakTo(service.url)('GET', `/api/contacts?email=${email}`, { key: business.secretKey })
  return (found.body.data['contacts'] as Contact[])[0]
}

describe('a page with the tag', () => {
  it('ties its visitor to a person', async () => {
    const attributes = `data-business="${business.businessId}" data-autocapture="off"`
    web.site.pages['/account'] = pageOf(`<script async src="${service.url}/sluice.js" ${attributes}></script>`)
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/account'))
    const visitorId = await until(() => page.evaluate<string | false>(`'sluice' in window && sluice.visitorId()`))
    await page.evaluate(`sluice.identify({ email: 'ann@x.io' }, { name: 'Ann Lee' })`)
    expect(await until(() => findContact('ann@x.io'))).toMatchObject({ firstName: 'Ann', visitorIds: [visitorId] })
  })
})
