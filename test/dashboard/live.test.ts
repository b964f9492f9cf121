// @pages
/** The page of the last requests in a real Chromium, by mouse and by keyboard. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { curlOf } from '../../src/dashboard/src/features/data/live/curl.ts'
import { EMPTY_FEED, type LiveRequest, MAX_ROWS, changeFeed } from '../../src/dashboard/src/features/data/live/feed.ts'
import { eventFact, openPipeline, track as trackRequest } from '../support/facts.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, findBarriers, openDashboard } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'
const FOLDER = process.env['SCREENSHOTS']

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  business = await freshBusiness('keeper@x.io')
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function freshBusiness(email: string): Promise<TestBusiness> {
  const one = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  await addUser(dashboard.service.sql, email, { businessId: one.businessId, role: 'owner' })
  return one
}

async function track(event: string, { secretKey } = business, body: object = {}): Promise<void> {
  const response = await fetch(`${dashboard.service.url}/api/sdk/track`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ event, identity: { email: 'ann@x.io' }, ...body }),
  })
  expect(response.status).toBe(200)
}

const live = (search = '', { businessId } = business) => `/dashboard/b/${businessId}/live${search}`
const open = (search = '') => dashboard.visit(live(search), { email: 'keeper@x.io' })
const row = (page: Page, text: string | RegExp) => page.getByRole('grid').getByRole('row').filter({ hasText: text })
const within = (timeout: number) => ({ timeout })

it('says how to send the first event, and shows it within seconds', async () => {
  const fresh = await freshBusiness('first@x.io')
  const page = await dashboard.visit(live('', fresh), { email: 'first@x.io' })
  await page.getByText('No requests in the last hour').waitFor()
  expect(await page.locator('pre').innerText()).toContain(`curl -X POST ${dashboard.service.url}/api/sdk/track`)
  await track('first_event', fresh)
  await row(page, 'first_event').waitFor(within(5000))
  await page.getByRole('status').getByText('1 new request', { exact: true }).waitFor(within(10_000))
})

it('waits for the next event where there are contacts already', async () => {
  const { businessId } = await freshBusiness('known@x.io')
  const pipeline = await openPipeline(dashboard.service.sql)
  await pipeline.apply(trackRequest(businessId, eventFact('signup', { email: 'ann@x.io' })))
  const page = await dashboard.visit(live('', { ...business, businessId }), { email: 'known@x.io' })
  await page.getByText('Waiting for the next event. It appears here by itself.').waitFor()
  expect(await page.locator('pre').count()).toBe(0)
})

it('puts new requests on top, and behind a button while the pointer or the focus is in the table', async () => {
  await track('one')
  const page = await open()
  await row(page, 'one').first().waitFor()
  await track('two')
  await row(page, 'two').waitFor(within(5000))
  expect(await page.getByRole('row').nth(1).innerText()).toContain('two')

  await row(page, 'two').hover()
  await track('three')
  await page.getByRole('button', { name: '1 new' }).waitFor(within(5000))
  expect(await row(page, 'three').count()).toBe(0)
  await page.mouse.move(5, 5)
  await row(page, 'three').waitFor(within(5000))

  await row(page, 'three').focus()
  await track('four')
  const button = page.getByRole('button', { name: '1 new' })
  await button.waitFor(within(5000))
  expect(await row(page, 'four').count()).toBe(0)
  await button.press('Enter')
  await row(page, 'four').waitFor()
  // The focus was not lost when the button disappeared.
  expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('row')
})

it('waits while it is paused', async () => {
  await track('before_pause')
  const page = await open()
  await row(page, 'before_pause').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await track('in_pause')
  await page.getByRole('button', { name: '1 new' }).waitFor(within(5000))
  expect(await row(page, 'in_pause').count()).toBe(0)
  await page.getByRole('button', { name: 'Resume' }).click()
  await row(page, 'in_pause').waitFor()
})

it('filters by the address, and keeps the filter there', async () => {
  await track('apple')
  await track('pear')
  const page = await open('?event=appl')
  await row(page, 'apple').waitFor()
  expect(await row(page, 'pear').count()).toBe(0)
  expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('appl')
  await page.getByLabel('Outcome').selectOption('refused')
  await page.getByText('No requests match').waitFor()
  expect(new URL(page.url()).search).toBe('?event=appl&outcome=refused')
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await row(page, 'pear').waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.getByLabel('Contact ID').fill('nobody')
  await page.keyboard.press('Enter')
  await page.getByText('Enter the ID of a contact.').waitFor()
})

it('warns of a batch whose items failed, and says what was wrong', async () => {
  const response = await fetch(`${dashboard.service.url}/api/sdk/track/batch`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ events: [{ event: '' }, { event: 'x' }] }),
  })
  expect(response.status).toBe(200)
  const page = await open('?outcome=warned')
  const batch = row(page, 'Failures occurred: 2 of 2 items failed.')
  await batch.getByText('Warnings').waitFor()
  await batch.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'What was wrong' }).waitFor()
  await dialog.getByText('events[1]: ').waitFor()
})

it('shows in the row of a batch how many items failed, and how many warnings there were', async () => {
  const warned = { event: 'x', identity: { platformCustomerId: '1' }, traits: { 'Not snake': 1, 'Nor this': 2 } }
  await fetch(`${dashboard.service.url}/api/sdk/track/batch`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ events: [{ event: '' }, warned] }),
  })
  const page = await open('?outcome=warned')
  await row(page, /Failures occurred: 1 of 2 items failed\. 2 warnings: item 1: /).waitFor()
})

it('opens a request by Enter, and closes it by Escape', async () => {
  await track('opened', business, { value: 12, currency: 'EUR', idempotency_key: 'x' })
  const page = await open('?event=opened')
  await row(page, 'opened').focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'opened' })
  await dialog.getByText('POST /api/sdk/track').waitFor()
  expect(await dialog.innerText()).toContain('idempotency_key')
  expect(await dialog.getByRole('heading', { name: 'Warnings' }).count()).toBe(1)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await dialog.getByRole('button', { name: 'Copy as curl' }).click()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(copied).toContain('Bearer YOUR_KEY')
  expect(copied).toContain('"event":"opened"')
  expect(copied).not.toContain(business.secretKey)
  expect(await findBarriers(page)).toEqual([])
  if (FOLDER !== undefined) await page.screenshot({ path: join(FOLDER, 'live-dialog.png') })
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

it.each([
  ['light', 1280],
  ['dark', 360],
] as const)('shows hostile text as text, %s, %i px', async (theme, width) => {
  await track(HOSTILE)
  const page = await dashboard.visit(live(), { email: 'keeper@x.io', theme, width })
  await row(page, HOSTILE).first().waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(await findBarriers(page)).toEqual([])
  if (FOLDER !== undefined) await page.screenshot({ path: join(FOLDER, `live-${theme}-${width}.png`) })
  await row(page, HOSTILE).first().click()
  await page.getByRole('dialog').getByRole('heading', { name: HOSTILE }).waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.title()).toBe('Live requests · Sluice')
})

it('is not for those who may not see contacts', async () => {
  const page = await dashboard.visit(live('', { ...business, businessId: dashboard.businessId }), {
    email: 'read-only@x.io',
  })
  await page.getByText('Your role does not allow this.').waitFor()
  expect(await page.getByRole('link', { name: 'Live requests' }).count()).toBe(0)
})

it('lets nothing of a request end the quotes of the command', () => {
  const sent = {
    method: 'POST',
    route: '/api/sdk/track',
    query: "?a='",
    contactId: null,
    body: { event: "'; rm -rf ~ '" },
  }
  expect(curlOf(sent, 'http://h')).toBe(
    [
      String.raw`curl -X POST 'http://h/api/sdk/track?a='\''' \ `.trimEnd(),
      String.raw`  -H 'Authorization: Bearer YOUR_KEY' \ `.trimEnd(),
      String.raw`  -H 'Content-Type: application/json' \ `.trimEnd(),
      String.raw`  -d '{"event":"'\''; rm -rf ~ '\''"}'`,
    ].join('\n'),
  )
  expect(curlOf({ ...sent, query: '', body: null }, 'http://h:8080').split(' -H ')[0]).toBe(
    String.raw`curl -X POST http://h:8080/api/sdk/track \ `.trimEnd() + '\n ',
  )
})

it('keeps as many rows as it may, each once, and counts what was not kept', () => {
  const request = (id: number) => ({ id: String(id) }) as LiveRequest
  const many = Array.from({ length: MAX_ROWS }, (_, at) => request(MAX_ROWS - at))
  const first = changeFeed(EMPTY_FEED, {
    kind: 'first',
    answer: { requests: many, omitted: 2, newest: 7, oldest: 1 },
  })
  const answer = { requests: [request(MAX_ROWS + 1), request(MAX_ROWS)], omitted: 3, newest: 8 }
  const held = changeFeed(first, { kind: 'newer', answer, isHeld: true })
  expect(held).toMatchObject({ waiting: [request(MAX_ROWS + 1)], omitted: 5, newest: 8, oldest: 1, arrived: 1 })
  expect(held.shown).toHaveLength(MAX_ROWS)
  const shown = changeFeed(held, { kind: 'show' })
  expect(shown).toMatchObject({ waiting: [], oldest: null })
  expect(shown.shown.map(({ id }) => id)).toEqual([MAX_ROWS + 1, ...many.slice(0, -1).map(({ id }) => id)].map(String))
})
