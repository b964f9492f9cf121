// @pages
/** The destinations and deliveries page in a real Chromium, by mouse and by keyboard alone. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { uuidv7 } from 'uuidv7'
import { addDestination, newDestinationId } from '../../src/deliveries/destinations.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
let destinationId: string
beforeAll(async () => {
  dashboard = await openDashboard()
  destinationId = newDestinationId()
  const { businessId } = dashboard
  const settings = { url: 'http://127.0.0.1:9/in' }
  const { sql } = dashboard.service
  await addDestination(sql, {
    id: destinationId,
    businessId,
    kind: 'webhook',
    name: HOSTILE,
    types: ['lead'],
    settings,
    secret: 'sealed',
  })
  // Only the test changes its deliveries.
  await sql`update destinations set active = false where id = ${destinationId}`
  for (const [event, state] of [
    ['signed_up', 'sent'],
    [HOSTILE, 'dead'],
    ['booked', 'dead'],
    ['called', 'queued'],
  ] as const) {
    await sql`
      insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state,
        attempts, last_error, next_attempt_at, settled_at)
      values (${businessId}, ${uuidv7()}, ${destinationId}, ${uuidv7()}, ${uuidv7()}, ${event}, 'lead', 0, '{}', ${state}, 3,
        ${state === 'sent' ? null : `HTTP 500 ${HOSTILE}`}, now() + interval '1 hour', ${state === 'queued' ? null : new Date()})`
  }
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const open = (search = '', email = 'owner@x.io') =>
  dashboard.visit(`/dashboard/b/${dashboard.businessId}/deliveries${search}`, { email })
const grid = (page: Page, name: string) => page.getByRole('grid', { name })
const row = (page: Page, text: string) => grid(page, 'Conversions').getByRole('row').filter({ hasText: text })
const countOf = async (state: string): Promise<number> => {
  const [found] = await dashboard.service.sql<[{ count: number }]>`
    select count(*) as count from deliveries where business_id = ${dashboard.businessId} and state = ${state}`
  return found.count
}

it('lists deliveries, filters them in the URL, and shows why one failed; hostile texts are text', async () => {
  const page = await open()
  await row(page, 'booked').waitFor()
  await page.getByLabel('State').selectOption('dead')
  await row(page, 'signed_up').waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?state=dead')
  await row(page, 'HTTP 500').filter({ hasNotText: 'booked' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`HTTP 500 ${HOSTILE}`).waitFor()
  expect(await dialog.getByRole('link', { name: 'Open the contact' }).getAttribute('href')).toContain('/contacts/')
  expect(await page.locator('img').count()).toBe(0)
  const bookmarked = await open(`?state=queued&destination=${destinationId}`)
  await row(bookmarked, 'called').waitFor()
  expect(await row(bookmarked, 'booked').count()).toBe(0)
  await (await open(`?destination=${uuidv7()}`)).getByText('No conversions match').waitFor()
})

it('shows the last attempts of one, with when and why', async () => {
  const log = [
    { at: new Date(Date.now() - 60_000), outcome: 'retry', reason: `HTTP 503 ${HOSTILE}` },
    { at: new Date(), outcome: 'dead', reason: 'HTTP 422' },
  ]
  await dashboard.service.sql`
    update deliveries set attempt_log = ${JSON.stringify(log)}::text::jsonb where event = 'booked'`
  const page = await open()
  await row(page, 'booked').click()
  const shown = page.getByRole('region', { name: 'Last attempts' }).getByRole('listitem')
  await shown.first().waitFor()
  const texts = await shown.allInnerTexts()
  expect(texts[0]).toContain('Failed, given up')
  expect(texts[0]).toContain('HTTP 422')
  expect(texts[1]).toContain(`HTTP 503 ${HOSTILE}`)
  expect(await page.locator('img').count()).toBe(0)
})

it('sends one again by keyboard alone, and then all', async () => {
  const page = await open()
  await settle(page, true)
  await row(page, 'booked').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.getByRole('button', { name: 'Send again now' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('1 conversion is due now.').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await countOf('dead')).toBe(1)
  await page.getByRole('button', { name: 'Send given-up conversions again' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText('to every destination').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Send given-up conversions again' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await countOf('dead')).toBe(0)
})

it('renames and resumes a destination', async () => {
  const page = await open()
  await grid(page, 'Destinations').getByRole('row').filter({ hasText: 'Webhook' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByLabel('Address').inputValue()).toBe('http://127.0.0.1:9/in')
  await dialog.getByLabel('Name').fill('CRM')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await grid(page, 'Destinations').getByText('CRM').waitFor()
  const [stored] = await dashboard.service.sql`select name, active from destinations where id = ${destinationId}`
  expect(stored).toEqual({ name: 'CRM', active: false })
})

it('shows readers neither settings nor contacts, and offers them no change', async () => {
  const page = await open('', 'read-only@x.io')
  await row(page, 'booked').click()
  expect(await page.getByRole('dialog').getByRole('link').count()).toBe(0)
  expect(await page.getByRole('button', { name: /again/ }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await grid(page, 'Destinations').getByRole('row').filter({ hasText: 'Webhook' }).click()
  await page.getByText('Only owners can change destinations.').waitFor()
  expect(await page.getByRole('dialog').innerText()).not.toContain('127.0.0.1')
})
