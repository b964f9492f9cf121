// @pages
/** The front door makes the browser preload exactly what the page requests, and the page requests it once. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())

it.each(['', '/contacts', '/segments', '/campaigns'])('the data of %s', async (path) => {
  const page = await dashboard.visit('/dashboard/account')
  await settle(page)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url().slice(dashboard.service.url.length)))
  const api = `/dashboard/api/b/${dashboard.businessId}/`
  const answer = await page.goto(`${dashboard.service.url}/dashboard/b/${dashboard.businessId}${path}`)
  await settle(page, path === '')
  const link = (await answer!.headerValue('link')) ?? ''
  const hinted = [...link.matchAll(/<([^>]*)>; rel=preload; as=fetch; crossorigin/g)].map(([, url]) => url)
  expect(hinted.length).toBeGreaterThan(0)
  for (const url of hinted) {
    expect(url?.startsWith(api)).toBe(true)
    // A polling page requests it again later.
    const times = asked.filter((one) => one === url).length
    if (path === '') expect(times).toBeGreaterThan(0)
    else expect([url, times]).toEqual([url, 1])
  }
})

it('none for a filtered list, or for an ID that is not one', async () => {
  const linkOf = async (path: string) => (await fetch(dashboard.service.url + path)).headers.get('link')
  expect(await linkOf(`/dashboard/b/${dashboard.businessId}/contacts?tag=vip`)).toBeNull()
  expect(await linkOf('/dashboard/b/%3E%3B/contacts')).toBeNull()
  expect(await linkOf('/dashboard/account')).toBeNull()
})
