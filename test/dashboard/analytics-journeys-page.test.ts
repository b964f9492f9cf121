// @pages
/** Lifecycle, stages, engagement, campaigns and segments in a real Chromium, by mouse and by keyboard alone. */
import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Page } from 'playwright-core'
import { speakTo } from '../front-door/http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'
const DAY = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY).toISOString()

/** Days are in New York time, where the first of these is November 2. */
const EVENTS = [
  { event: 'page_view', who: 'bob', at: '2024-11-03T03:59:59.999Z' },
  { event: 'page_view', who: 'ann', at: '2024-11-03T04:00:00.000Z' },
  { event: 'add_to_cart', who: 'ann', at: '2024-11-04T15:00:00.000Z' },
  { event: 'page_view', who: 'bob', at: '2024-11-04T16:00:00.000Z' },
  { event: 'purchase', who: 'ann', at: '2024-11-05T15:00:00.000Z', value: 20 },
  { event: 'page_view', who: 'cyd', at: '2024-10-31T15:00:00.000Z' },
  ...Array.from({ length: 8 }, () => ({ event: 'lesson', who: 'dan', at: daysAgo(8) })),
  ...Array.from({ length: 3 }, () => ({ event: 'lesson', who: 'eve', at: daysAgo(0) })),
]
const DAYS = 'from=2024-11-02&to=2024-11-05'

let dashboard: Dashboard
let business: TestBusiness
const contactIds = new Map<string, string>()
beforeAll(async () => {
  dashboard = await openDashboard()
  const { sql, url, shipped } = dashboard.service
  business = await createBusiness(sql, { name: 'School', timezone: 'America/New_York' })
  for (const role of ['owner', 'marketer', 'read-only'] as const) {
    await addUser(sql, `${role}2@x.io`, { businessId: business.businessId, role })
  }
  for (const { who, at, ...event } of EVENTS) {
    const { contactId } = await send('sdk/track', { ...event, identity: { email: `${who}@x.io` }, occurredAt: at })
    contactIds.set(who, String(contactId))
  }
  for (const [who, name] of [
    ['dan', 'Dan Down'],
    ['eve', HOSTILE],
    ['fay', 'Fay Faint'],
  ])
    await send('sdk/identify', { identity: { email: `${who}@x.io` }, profile: { name } })
  const { segment } = await send('segments', {
    name: 'Learners',
    rule: { event: 'lesson', metric: 'count', operator: 'greater_than', value: 0 },
  })
  const { campaign } = await send('campaigns', {
    name: 'Welcome',
    trigger: { event: 'welcomed' },
    goal: { event: 'paid' },
  })
  await send('campaigns', { name: 'A draft', trigger: { event: 'welcomed' } })
  const { campaignId } = campaign as { campaignId: string }
  await send(`campaigns/${campaignId}/publish`, {})
  await send('sdk/track', { event: 'welcomed', identity: { email: 'eve@x.io' } })
  const speak = speakTo(url)
  const read = async (path: string) => (await speak('GET', `/api/${path}`, { key: business.secretKey })).body.data
  const isDone = async () => {
    const { report } = (await read(`campaigns/${campaignId}/report`)) as {
      report: { enrolments: { enrolled: number } }
    }
    const found = await read(`segments/${(segment as { segmentId: string }).segmentId}`)
    return report.enrolments.enrolled === 1 && (found['segment'] as { status: string }).status === 'ready'
  }
  await vi.waitUntil(isDone, { timeout: PATIENCE_MS })
  await shipped()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function send(path: string, json: object): Promise<Record<string, unknown>> {
  const { status, body } = await speakTo(dashboard.service.url)('POST', `/api/${path}`, {
    key: business.secretKey,
    json,
  })
  expect([path, status, body]).toMatchObject([path, 200, {}])
  return body.data
}

async function open(path: string, email = 'marketer2@x.io'): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/analytics${path}`, { email })
  await settle(page)
  return page
}
const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
/** Returns the cells of each row of the tables whose scrolling frames have this name. */
async function rowsOf(page: Page, name: string): Promise<string[][]> {
  const rows = await page.getByRole('group', { name, exact: true }).locator('table tr').all()
  return Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()))
}
/** Returns the rows of a list, without its head. */
async function listOf(page: Page, name: string): Promise<string[][]> {
  const rows = await page.getByRole('grid', { name, exact: true }).getByRole('row').all()
  return Promise.all(rows.slice(1).map((row) => row.getByRole('gridcell').allInnerTexts()))
}
async function savedBy(page: Page, place = 0): Promise<string[][]> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV file' }).nth(place).press('Enter')
  return parse(await readFile(await (await download).path()), { bom: true })
}

it('shows who is new, returns, comes back and goes dormant, by day of the business', async () => {
  const page = await open(`/lifecycle?${DAYS}`)
  await page.getByRole('img', { name: 'Who is active' }).locator('canvas').waitFor()
  expect(await rowsOf(page, 'Who is active')).toEqual([
    ['Time', 'Returning', 'New', 'Resurrecting', 'Dormant'],
    ['Nov 2, 2024', '0', '1', '0', '0'],
    ['Nov 3, 2024', '0', '1', '0', '1'],
    ['Nov 4, 2024', '1', '0', '1', '0'],
    ['Nov 5, 2024', '1', '0', '0', '1'],
  ])
  expect((await savedBy(page)).slice(0, 3)).toEqual([
    ['Start', 'Returning', 'New', 'Resurrecting', 'Dormant'],
    ['2024-11-02', '0', '1', '0', '0'],
    ['2024-11-03', '0', '1', '0', '1'],
  ])
})

it('takes the event that makes a contact active, and the interval, by keyboard', async () => {
  const page = await open(`/lifecycle?${DAYS}`)
  await page.getByRole('group', { name: 'Active means did' }).getByRole('button').first().press('Enter')
  await page.getByRole('option', { name: 'purchase' }).waitFor()
  await page.keyboard.type('purchase')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Leave out “purchase”' }).waitFor()
  await settle(page)
  expect((await rowsOf(page, 'Who is active')).at(-1)).toEqual(['Nov 5, 2024', '0', '1', '0', '0'])
  await page.getByLabel('By', { exact: true }).selectOption('month')
  await page.getByRole('rowheader', { name: 'November 2024' }).waitFor()
  expect(queryOf(page)).toEqual({ from: '2024-11-02', to: '2024-11-05', active: 'purchase', interval: 'month' })
  await page.goto(
    `${dashboard.service.url}/dashboard/b/${business.businessId}/analytics/lifecycle?from=2020-01-01&to=2020-01-31`,
  )
  await page.getByText('Nothing in this time range').waitFor()
})

it('shows how many are in each stage, which is what the list of contacts has, and their moves', async () => {
  const page = await open(`/stages?${DAYS}`, 'read-only2@x.io')
  expect(await rowsOf(page, 'Contacts by stage, now')).toEqual([
    ['Stage', 'Contacts', 'Share'],
    ['Awareness', '5', '83.3%'],
    ['Consideration', '0', '0%'],
    ['Decision', '1', '16.7%'],
    ['Retention', '0', '0%'],
    ['Advocacy', '0', '0%'],
  ])
  expect((await rowsOf(page, 'From the row to the column')).slice(0, 4)).toEqual([
    ['From the row to the column', 'Awareness', 'Consideration', 'Decision', 'Retention', 'Advocacy'],
    ['New contact', '2', '0', '0', '0', '0'],
    ['Awareness', '–', '1', '0', '0', '0'],
    ['Consideration', '0', '–', '1', '0', '0'],
  ])
  expect((await rowsOf(page, 'Moves over time')).slice(0, 4)).toEqual([
    ['Time', 'New in Awareness', 'Awareness → Consideration', 'Consideration → Decision'],
    ['Total', '2', '1', '1'],
    ['Nov 2, 2024', '1', '0', '0'],
    ['Nov 3, 2024', '1', '0', '0'],
  ])
  await page.getByRole('img', { name: 'Moves over time' }).locator('canvas').waitFor()
  expect((await savedBy(page))[1]).toEqual(['Awareness', '5'])
  expect((await savedBy(page, 1))[3]).toEqual(['2024-11-04', '0', '1', '0'])
  await page.getByLabel('By', { exact: true }).selectOption('week')
  await settle(page)
  expect(queryOf(page)).toMatchObject({ interval: 'week' })
  expect((await rowsOf(page, 'Moves over time'))[2]?.slice(1)).toEqual(['2', '0', '0'])
  await page.getByRole('link', { name: 'Awareness' }).press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
  await settle(page)
  expect(queryOf(page)).toEqual({ stage: 'Awareness' })
  expect(await page.getByRole('grid').getByRole('row').count()).toBe(1 + 5)
})

it('shows how engaged contacts are, and whose score changed; a hostile name is text', async () => {
  const page = await open('/engagement')
  const figures = await page.locator('main dl dt, main dl dd > span:first-child').allInnerTexts()
  expect(figures).toEqual(['Contacts', '6', 'Without a score', '1', 'Median', '0'])
  const rows = await rowsOf(page, 'Contacts by engagement score, now')
  expect(rows.filter(([, count]) => count !== '0')).toEqual([
    ['Score', 'Contacts', 'Share'],
    ['0–9', '3', '60%'],
    ['50–59', '1', '20%'],
    ['60–69', '1', '20%'],
  ])
  expect(await savedBy(page)).toHaveLength(11)
  expect(await listOf(page, 'Risen')).toEqual([[HOSTILE, '0', '50', '+50']])
  expect(await listOf(page, 'Fallen')).toEqual([['Dan Down', '73', '61', '-12']])
  expect(await page.locator('main img').count()).toBe(0)
  // The page of the contact shows the same.
  const speak = speakTo(dashboard.service.url)
  for (const [who, score] of [
    ['eve', 50],
    ['dan', 61],
  ] as const) {
    const { body } = await speak('GET', `/api/contacts/${contactIds.get(who)}`, { key: business.secretKey })
    expect(body.data).toMatchObject({ contact: { engagement: { score } } })
  }
})

it('opens a contact whose score changed by keyboard alone', async () => {
  const page = await open('/engagement')
  await page.getByRole('grid', { name: 'Fallen' }).getByRole('row').nth(1).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Dan Down' }).waitFor()
})

it('shows a reader the scores, and no people', async () => {
  const page = await open('/engagement', 'read-only2@x.io')
  expect((await rowsOf(page, 'Contacts by engagement score, now'))[1]?.[1]).toBe('3')
  expect(await page.getByRole('grid').count()).toBe(0)
  expect(await page.getByText('Movers of the week').count()).toBe(0)
})

it('says how contacts get a score where none has one', async () => {
  const page = await dashboard.visit(`/dashboard/b/${dashboard.businessId}/analytics/engagement`)
  await page.getByText('No scores yet').waitFor()
  expect(await page.getByRole('grid').count()).toBe(0)
})

it('lists running campaigns and segments with their course, and leads to their pages', async () => {
  const page = await open('/audience')
  await page.getByRole('img', { name: 'Enrolments by day over 30 days, at most 1 in one day' }).waitFor()
  await page.getByRole('img', { name: 'From 0 to 2 members in 30 days' }).waitFor()
  expect((await listOf(page, 'Campaigns')).map((cells) => cells.slice(0, 4))).toEqual([
    ['Welcome', 'Published', '1', '0%'],
  ])
  expect((await listOf(page, 'Segments')).map((cells) => cells.slice(0, 2))).toEqual([['Learners', '2']])
  await page.getByRole('grid', { name: 'Segments' }).getByRole('link', { name: 'Learners' }).click()
  await page.getByRole('heading', { level: 1, name: 'Learners' }).waitFor()
  await page.goBack()
  await page.getByRole('grid', { name: 'Campaigns' }).getByRole('row').nth(1).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
})

it('is found with Ctrl K', async () => {
  const page = await open('/stages')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Go to a page, or do something' }).fill('lifecycle')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Lifecycle' }).waitFor()
})
