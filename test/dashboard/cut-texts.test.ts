// @pages
/** Times, badges and names in lists are shown whole, on a telephone and on a small screen. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { recordAudit } from '../../src/audit/audit.ts'
import { insertKey } from '../../src/businesses/keys.ts'
import { type Dashboard, endAnimations, openDashboard, settle } from './open-dashboard.ts'

const WIDTHS = [390, 1280]

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
  const { sql, url } = dashboard.service
  const { key } = await insertKey(sql, dashboard.businessId, 'secret')
  const send = async (event: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${url}/api/sdk/track`, { method: 'POST', headers, body: JSON.stringify(event) })
    expect(answer.status).toBe(200)
  }
  await send({ event: 'add_to_cart', identity: { email: 'ann@x.io' }, traits: { wants_certificate: false } })
  for (const businessId of [dashboard.businessId, null]) for (let n = 0; n < 20; n += 1) await change(businessId, n)
})
afterAll(() => dashboard.close())

async function change(businessId: string | null, n: number): Promise<void> {
  const actor = { kind: 'command', id: 'a-user-with-a-long-name', name: 'admin partitions set' } as const
  const details = n % 2 === 0 ? { to: n } : { email: 'somebody-with-a-long-address@example.org', role: 'read-only' }
  await recordAudit(dashboard.service.sql, { businessId, actor, action: 'partitions.set', target: `t${n}`, details })
}

/** Returns the texts of the cells that show only a part of what was looked for. */
const findCut = (page: Page, what: string) =>
  page.evaluate<string[]>(`Array.from(document.querySelectorAll(${JSON.stringify(what)}))
    .map((one) => one.closest('[role=gridcell]'))
    .filter((cell) => cell !== null && cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)`)

/** Returns how much each row lies over the next, in pixels. */
const findOverlaps = (page: Page) =>
  page.evaluate<number[]>(`Array.from(document.querySelectorAll('[aria-label="Audit log"] [data-index]'))
    .map((row) => ({ at: Number(row.dataset.index), box: row.getBoundingClientRect() }))
    .sort((one, other) => one.at - other.at)
    .map(({ box }, place, all) => place === 0 ? 0 : all[place - 1].box.bottom - box.top)
    .filter((overlap) => overlap > 1)`)

it.each(WIDTHS)('in the audit log, whose rows lie one below the other, at %i px', async (width) => {
  const page = await dashboard.visit(`/dashboard/b/${dashboard.businessId}/settings/audit`, { width })
  await settle(page)
  expect(await page.locator('time').count()).toBeGreaterThan(5)
  expect(await findCut(page, 'time')).toEqual([])
  expect(await findOverlaps(page)).toEqual([])
})

it.each(WIDTHS)('on the page of operators, also after more was added above, at %i px', async (width) => {
  const page = await dashboard.visit('/dashboard/operations', { email: 'operator@x.io', width, isChanged: true })
  await page.clock.install()
  await page.reload()
  await settle(page, true)
  const log = page.getByRole('grid', { name: 'Audit log' })
  const before = Number(await log.getAttribute('aria-rowcount'))
  expect(before).toBeGreaterThan(20)
  expect(await findCut(page, 'time')).toEqual([])
  expect(await findOverlaps(page)).toEqual([])
  // Of the lower kind of row: at its place was a higher one.
  await change(null, 2)
  await page.clock.fastForward(60_000)
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
  await expect.poll(async () => Number(await log.getAttribute('aria-rowcount'))).toBe(before + 1)
  await endAnimations(page)
  expect(await findOverlaps(page)).toEqual([])
})

it.each(WIDTHS)('in the list of contacts and in one of them, at %i px', async (width) => {
  const page = await dashboard.visit(`/dashboard/b/${dashboard.businessId}/contacts`, { width })
  await page.getByRole('gridcell', { name: 'Consideration' }).waitFor()
  const search = page.getByRole('searchbox', { name: 'Search name, email, phone or customer ID' })
  const { width: room } = (await search.boundingBox())!
  expect(room).toBeGreaterThan(340)
  const badges = `[role=gridcell] > span`
  expect(await page.locator(badges).count()).toBeGreaterThan(0)
  expect(await findCut(page, badges)).toEqual([])
  await page.getByRole('gridcell').getByRole('link').first().click()
  const name = page.getByRole('term').filter({ hasText: 'wants_certificate' })
  await name.waitFor()
  const { height } = (await name.boundingBox())!
  expect(height).toBeLessThan(30)
  expect(await page.getByRole('definition').filter({ hasText: /^No$/ }).count()).toBe(1)
})
