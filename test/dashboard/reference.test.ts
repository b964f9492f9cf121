// @pages
/** The API reference in a real Chromium, by mouse and by keyboard alone. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { insertKey } from '../../src/businesses/keys.ts'
import { ERRORS } from '../../src/errors.ts'
import { API_ROUTES } from '../../src/front-door/app.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'

let dashboard: Dashboard
let key: string
beforeAll(async () => {
  dashboard = await openDashboard()
  ;({ key } = await insertKey(dashboard.service.sql, dashboard.businessId, 'secret'))
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

/** Nobody is signed in: callers may have no account. */
const open = (search = '') => dashboard.visit(`/dashboard/reference${search}`, { email: null })

it('lists every operation and every error, also to people who are not signed in', async () => {
  const page = await open()
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  const described = API_ROUTES.filter(({ operation }) => operation !== null)
  expect(await page.getByRole('navigation').getByRole('link').count()).toBe(described.length)
  const errors = await page.getByRole('group', { name: 'Errors' }).locator('tbody tr').allInnerTexts()
  expect(errors).toHaveLength(Object.keys(ERRORS).length)
  expect(errors.join('\n')).toContain('<key>')
})

it('has a page for every operation, with a command to copy', async () => {
  const page = await open()
  for (const { operation } of API_ROUTES) {
    if (operation === null) continue
    await page.getByRole('navigation').getByRole('link', { name: operation.summary, exact: false }).first().click()
    await page.getByRole('heading', { name: operation.summary, level: 1, exact: true }).waitFor()
    expect(await page.getByText('curl').first().innerText()).toContain('$BASE')
  }
})

it('finds an operation, and tries it, by keyboard alone', async () => {
  const page = await open()
  await settle(page)
  await page.getByRole('textbox', { name: 'Find an operation' }).focus()
  await page.keyboard.type('sdk/track/batch')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(/operation=postApiSdkTrackBatch/)
  await page.goto(page.url().replace('Batch', ''))
  await page.getByLabel('API key').focus()
  await page.keyboard.type(key)
  await page.getByRole('textbox', { name: 'Body' }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('{"event":"signup","identity":{"email":"ada@example.com"}}')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Try it' }).getByText('"isNew": true').waitFor()
})

it('shows what a call refuses, and sends no session along', async () => {
  const page = await dashboard.visit('/dashboard/reference?operation=getApiContactsContactId')
  let cookie: string | undefined
  page.on('request', (request) => {
    if (request.url().includes('/api/contacts/')) ({ cookie } = request.headers())
  })
  await page.getByLabel('API key').fill('sk_live_wrong')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('"invalid_api_key"').waitFor()
  expect(cookie).toBeUndefined()
  expect(await page.evaluate(`JSON.stringify({ ...localStorage, ...sessionStorage })`)).not.toContain('sk_live_wrong')
})
