// @pages
/** Quiet hours and caps of the business in a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { speakTo } from '../front-door/http-client.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, findBarriers, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'
import { enter, tabTo, typeInto } from './tab-to.ts'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  for (const role of ['owner', 'read-only'] as const) {
    await addUser(dashboard.service.sql, emailOf(role), { businessId: business.businessId, role })
  }
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const emailOf = (role: string) => `${role}-${business.businessId}@x.io`

async function messaging(method = 'GET', json?: object): Promise<unknown> {
  const { status, body } = await speakTo(dashboard.service.url)(method, '/api/messaging', {
    key: business.secretKey,
    json,
  })
  expect(status).toBe(200)
  return (body.data as { messaging: unknown }).messaging
}

async function open(role: string): Promise<Page> {
  const path = `/dashboard/b/${business.businessId}/settings/messages`
  const page = await dashboard.visit(path, { email: emailOf(role) })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const saved = (page: Page) => page.getByRole('status').getByText('Saved.').first().waitFor()

it('are set by owners; what the server refuses is at its field', async () => {
  const page = await open('owner')
  expect(await page.getByLabel('Quiet hours', { exact: true }).locator('option').allInnerTexts()).toEqual([
    'None',
    'Custom',
  ])
  expect(await page.getByLabel('From').inputValue()).toBe('21:00')
  await page.getByLabel('To').fill('08:30')
  await button(page, 'Add a cap').click()
  const cap = page.getByRole('group', { name: 'Cap 1' })
  await page.locator(':focus').and(cap.getByLabel('Channel')).waitFor()
  await cap.getByLabel('At most').fill('0')
  await button(page, 'Save').click()
  await page.locator(':focus').and(cap.getByLabel('At most')).and(page.locator('[aria-invalid]')).waitFor()
  await cap.getByLabel('At most').fill('2')
  await cap.getByLabel('When reached').selectOption('Skip the message')
  expect(await findBarriers(page)).toEqual([])
  await button(page, 'Save').click()
  await saved(page)
  const caps = [{ channel: 'email', atMost: 2, days: 7, whenReached: 'skip' }]
  expect(await messaging()).toEqual({ quietHours: { from: '21:00', to: '08:30' }, caps, perAddressHour: 20 })
  await page.reload()
  await page.getByLabel('Quiet hours', { exact: true }).selectOption('None')
  await button(page, 'Delete cap 1').click()
  await button(page, 'Save').click()
  await saved(page)
  expect(await messaging()).toEqual({ quietHours: null, caps: [], perAddressHour: 20 })
})

it('are set by keyboard alone', async () => {
  const page = await open('owner')
  await tabTo(page, page.getByLabel('From'))
  // The hour and the minute of a time field.
  await page.keyboard.type('1030PM')
  await enter(page, button(page, 'Add a cap'))
  const cap = page.getByRole('group', { name: 'Cap 1' })
  await page.locator(':focus').and(cap.getByLabel('Channel')).waitFor()
  await page.keyboard.type('SMS')
  await typeInto(page, cap.getByLabel('At most'), '3')
  await typeInto(page, cap.getByLabel('When reached'), 'Skip')
  await enter(page, button(page, 'Save'))
  await saved(page)
  const kept = { channel: 'sms', atMost: 3, whenReached: 'skip' }
  expect(await messaging()).toMatchObject({ quietHours: { from: '22:30' }, caps: [kept] })
  await enter(page, button(page, 'Delete cap 1'))
  await enter(page, button(page, 'Save'))
  await expect.poll(() => messaging()).toMatchObject({ caps: [] })
})

it('are read by others', async () => {
  const caps = [{ channel: 'sms', atMost: 1, days: 0.5, whenReached: 'wait' }]
  await messaging('PUT', { quietHours: { from: '22:00', to: '07:00' }, caps })
  const page = await open('read-only')
  await page.getByText('Only owners can change these settings.').waitFor()
  expect(await page.getByLabel('From').inputValue()).toBe('22:00')
  expect(await page.getByLabel('From').isDisabled()).toBe(true)
  expect(await page.getByRole('group', { name: 'Cap 1' }).getByLabel('In days').inputValue()).toBe('0.5')
  expect(await button(page, 'Save').count()).toBe(0)
  expect(await findBarriers(page)).toEqual([])
})
