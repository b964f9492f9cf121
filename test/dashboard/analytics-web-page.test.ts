// @pages
/** The page of web traffic in a real Chromium, by mouse and by keyboard alone. */
import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const MINUTE = 60_000
const FORMULA = '=news'
/** November 3 and 4 in New York. */
const FIRST = Date.parse('2024-11-03T15:00:00.000Z')
const SECOND = Date.parse('2024-11-04T15:00:00.000Z')
const DAYS = 'from=2024-11-02&to=2024-11-05'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop', timezone: 'America/New_York' })
  for (const role of ['owner', 'marketer', 'read-only'] as const) {
    await addUser(dashboard.service.sql, `${role}2@x.io`, { businessId: business.businessId, role })
  }
  await capture('a', { hit_id: '1', page_id: 'a1', occurred_ms: FIRST })
  await capture('a', {
    hit_id: '2',
    page_id: 'a1',
    occurred_ms: FIRST + MINUTE / 2,
    kind: 'time',
    active_ms: MINUTE / 2,
  })
  await capture('a', { hit_id: '3', page_id: 'a1', occurred_ms: FIRST + MINUTE / 2, kind: 'scroll', depth: 50 })
  await capture('a', { hit_id: '4', page_id: 'a2', occurred_ms: FIRST + MINUTE, url: 'https://shop.example/<b>prices' })
  await capture('b', {
    hit_id: '1',
    page_id: 'b1',
    occurred_ms: SECOND,
    url: `https://shop.example/?utm_source=${encodeURIComponent(FORMULA)}&utm_campaign=spring`,
  })
  await capture('c', { hit_id: '1', page_id: 'c1', occurred_ms: Date.now() })
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function capture(visitor: string, hit: { occurred_ms: number } & Record<string, unknown>): Promise<void> {
  const shared = { kind: 'page_view', url: 'https://shop.example/', referrer: '', active_ms: 0, depth: 0 }
  const ids = { business_id: business.businessId, visitor_id: visitor.repeat(32) }
  const values = [{ ...ids, ...shared, received_ms: hit.occurred_ms, ...hit }]
  await dashboard.service.clickhouse.insert({ table: 'web_events', values, format: 'JSONEachRow' })
}

async function open(path: string, email = 'marketer2@x.io'): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/analytics/web${path}`, { email })
  await settle(page, true)
  return page
}
const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const figuresOf = async (page: Page): Promise<Record<string, string>> => {
  const texts = await page
    .getByRole('region', { name: 'Visits over time' })
    .locator('dl dt, dl dd > span:first-child')
    .allInnerTexts()
  return Object.fromEntries(
    Array.from({ length: texts.length / 2 }, (_, n) => [texts[2 * n] ?? '', texts[2 * n + 1] ?? '']),
  )
}
/** Returns the rows of a list, without its head. */
async function listOf(page: Page, name: string): Promise<string[][]> {
  const rows = page.getByRole('grid', { name, exact: true }).getByRole('row')
  await rows.nth(1).getByRole('gridcell').first().waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  return Promise.all((await rows.all()).slice(1).map((row) => row.getByRole('gridcell').allInnerTexts()))
}
async function savedBy(page: Page, region: string): Promise<string[][]> {
  const download = page.waitForEvent('download')
  await page.getByRole('region', { name: region }).getByRole('button', { name: 'CSV file' }).press('Enter')
  return parse(await readFile(await (await download).path()), { bom: true })
}

it('shows visits over time with their figures, for readers too', async () => {
  const page = await open(`?${DAYS}`, 'read-only2@x.io')
  await page.getByRole('img', { name: 'Visits over time' }).locator('canvas').waitFor()
  expect(await figuresOf(page)).toEqual({
    Visitors: '2',
    Sessions: '2',
    'Page views': '3',
    'Scroll depth': '16.7%',
    'Time per session': '15 sec',
    'Bounce rate': '50%',
  })
  const rows = await page.getByRole('group', { name: 'Visits over time' }).locator('table tr').all()
  expect(await Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()))).toEqual([
    ['Time', 'Visitors', 'Sessions', 'Page views'],
    ['Total', '2', '2', '3'],
    ['Nov 2, 2024', '0', '0', '0'],
    ['Nov 3, 2024', '1', '1', '2'],
    ['Nov 4, 2024', '1', '1', '1'],
    ['Nov 5, 2024', '0', '0', '0'],
  ])
  expect((await savedBy(page, 'Visits over time')).slice(0, 3)).toEqual([
    [
      'Start',
      'Visitors',
      'Sessions',
      'Page views',
      'Scroll depth, percent',
      'Seconds per session',
      'Bounce rate, 0 to 1',
    ],
    ['2024-11-02', '0', '0', '0', '', '', ''],
    ['2024-11-03', '1', '1', '2', '25', '30', '0'],
  ])
})

it('compares with the period before, by hour, and keeps the choices in the URL', async () => {
  const page = await open('?from=2024-11-04&to=2024-11-04')
  await page.getByLabel('Compare with the previous period').check()
  await page.getByText('Previous period: 2', { exact: true }).waitFor()
  await page.getByLabel('By', { exact: true }).selectOption('hour')
  await page.getByRole('rowheader', { name: /Nov 4, 2024.*10:00\sAM/ }).waitFor()
  expect(queryOf(page)).toEqual({ from: '2024-11-04', to: '2024-11-04', compare: 'true', interval: 'hour' })
})

it('lists pages with entries and exits, and sources by choice, with the keyboard; what visitors sent is text', async () => {
  const page = await open(`?${DAYS}`)
  expect(await listOf(page, 'Pages')).toEqual([
    ['shop.example/', '2', '2', '2', '1', '15 sec', '25%'],
    ['shop.example/<b>prices', '1', '1', '0', '1', '0 sec', '0%'],
  ])
  expect(await listOf(page, 'Sources of sessions')).toEqual([
    ['Direct, or unknown', '1', '1', '0%', '30 sec'],
    [FORMULA, '1', '1', '100%', '0 sec'],
  ])
  expect((await savedBy(page, 'Sources of sessions'))[2]).toEqual([`'${FORMULA}`, '1', '1', '1', '0'])
  expect((await savedBy(page, 'Pages'))[1]).toEqual(['shop.example/', '2', '2', '2', '1', '15', '25'])
  await page.getByLabel('List by').focus()
  await page.keyboard.press('ArrowDown')
  await page.getByRole('gridcell', { name: 'spring' }).waitFor()
  expect(queryOf(page)).toMatchObject({ by: 'campaign' })
  await page.getByText('No campaign').waitFor()
})

it('follows the visitors of this moment', async () => {
  const page = await open(`?${DAYS}`)
  const now = page.getByRole('region', { name: 'Visitors now' }).locator('.numeric')
  await expect.poll(() => now.innerText()).toBe('1')
  await capture('d', { hit_id: '1', page_id: 'd1', occurred_ms: Date.now() })
  await expect.poll(() => now.innerText(), { timeout: 30_000 }).toBe('2')
})

it('says how visits get here where there are none', async () => {
  const page = await open('?from=2020-01-01&to=2020-01-31')
  await page.getByText('No visits in this time range').waitFor()
  expect(await page.getByRole('grid').count()).toBe(0)
  await page.getByRole('link', { name: 'Show the snippet' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Business' }).waitFor()
})

it('pages and sources can be kept on a board', async () => {
  const page = await open(`?${DAYS}`)
  const keep = (region: string) =>
    page.getByRole('region', { name: region }).getByRole('button', { name: 'Save to board' }).click()
  await keep('Pages')
  await page.getByRole('dialog').getByLabel('Name').fill('Visits')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Open the board' }).waitFor()
  await keep('Sources of sessions')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Open the board' }).last().click()
  await page.getByRole('region', { name: 'Pages' }).getByText('shop.example').first().waitFor()
  await page.getByRole('region', { name: 'Sources of sessions' }).getByText(FORMULA).first().waitFor()
})
