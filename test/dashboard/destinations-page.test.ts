// @pages
/** Adding, changing, testing and removing destinations in a real Chromium, by keyboard alone and by mouse. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { OK, type Platform, json, openPlatform } from '../deliveries/platform.ts'
import { type Dashboard, findBarriers, openDashboard, settle } from './open-dashboard.ts'
import { PASSWORD } from './session-client.ts'
import { enter, tabTo } from './tab-to.ts'

let dashboard: Dashboard
let platform: Platform
beforeAll(async () => {
  dashboard = await openDashboard()
  platform = await openPlatform()
})
afterAll(async () => {
  await platform.close()
  await dashboard.close()
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const open = (email = 'owner@x.io') => dashboard.visit(`/dashboard/b/${dashboard.businessId}/deliveries`, { email })
const row = (page: Page, name: string) =>
  page.getByRole('grid', { name: 'Destinations' }).getByRole('row').filter({ hasText: name })
const destinations = () =>
  dashboard.service.sql<{ id: string; name: string; kind: string; settings: object; active: boolean }[]>`
    select id, name, kind, settings, active from destinations where business_id = ${dashboard.businessId} order by id`

/** Finds a button or a field by its visible name. */
const named = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).or(page.getByLabel(name, { exact: true }))
const choose = (page: Page, name: string) => enter(page, named(page, name))

it('adds a webhook, shows its key once, tests, pauses and removes it, by keyboard alone', async () => {
  const page = await open()
  await page.getByText('No destinations yet').waitFor()
  await settle(page, true)
  await choose(page, 'Add a destination')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  expect(await findBarriers(page)).toEqual([])
  // The kind has the focus.
  await page.keyboard.type('Web')
  await tabTo(page, named(page, 'Name'))
  await page.keyboard.press('Control+a')
  await page.keyboard.type('CRM')
  await tabTo(page, named(page, 'Address'))
  await page.keyboard.type('http://10.0.0.5/in')
  await page.keyboard.press('Enter')
  await dialog.getByText('10.0.0.5 is not allowed as a target').waitFor()
  // The field with the fault has the focus.
  await page.locator('[name="settings.url"]:focus').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type(`${platform.url}/in`)
  await page.keyboard.press('Enter')
  await dialog.getByText('It is not shown again').waitFor()
  expect(await dialog.locator('pre').innerText()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await choose(page, 'Copy')
  await dialog.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await dialog.locator('pre').innerText())
  await choose(page, 'I have stored it')
  await dialog.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain('whsec_')
  expect(await destinations()).toMatchObject([{ name: 'CRM', active: true, settings: { url: `${platform.url}/in` } }])

  await row(page, 'CRM').focus()
  await page.keyboard.press('Enter')
  await choose(page, 'Send a test')
  await dialog.getByText('The destination accepted it.').waitFor()
  expect(JSON.parse(platform.heard.at(-1)?.body ?? '')).toMatchObject({ type: 'test' })
  expect(await findBarriers(page)).toEqual([])
  await tabTo(page, named(page, 'Active'))
  await page.keyboard.press('Space')
  await choose(page, 'Save')
  await row(page, 'CRM').getByText('Paused').waitFor()

  await row(page, 'CRM').focus()
  await page.keyboard.press('Enter')
  await choose(page, 'Remove destination')
  await dialog.getByText('This cannot be undone').waitFor()
  expect(await destinations()).toHaveLength(1)
  await choose(page, 'Remove destination')
  await page.getByText('No destinations yet').waitFor()
  expect(await destinations()).toEqual([])
})

it('adds Meta and Google, with what the server refuses at its fields, and keeps secrets in password fields', async () => {
  const page = await open()
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Add a destination' }).click()
  await dialog.getByLabel('Dataset (pixel) ID').fill('seven')
  const token = dialog.getByLabel('Access token')
  expect(await token.getAttribute('type')).toBe('password')
  await token.fill('EAAB token')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText("Must be the platform's number").waitFor()
  await dialog.getByText('Must be 1 to 4,096 characters without spaces').waitFor()
  expect(await token.getAttribute('aria-invalid')).toBe('true')
  expect(await dialog.getByRole('alert').count()).toBe(0)
  await dialog.getByLabel('Dataset (pixel) ID').fill('77')
  await token.fill('EAAB-token')
  await dialog.getByLabel('Bookings').uncheck()
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await row(page, 'Purchases, Leads').waitFor()

  await page.getByRole('button', { name: 'Add a destination' }).click()
  await dialog.getByLabel('Kind').selectOption('google')
  await dialog.getByLabel('Customer ID').fill('12')
  for (const secret of ['Developer token', 'OAuth client ID', 'OAuth client secret', 'OAuth refresh token'])
    await dialog.getByLabel(secret).fill('secret')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('conversionActions is missing').waitFor()
  expect(await dialog.getByRole('alert').count()).toBe(0)
  await dialog.getByLabel('For leads').fill('5')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await row(page, 'Google Ads').first().waitFor()
  expect(await destinations()).toMatchObject([
    { kind: 'meta', name: 'Meta', settings: { pixelId: '77' } },
    { kind: 'google', settings: { customerId: '12', conversionActions: { lead: '5' } } },
  ])
})

it('changes a destination and keeps its secret, says why a test failed, and asks who it is after a while', async () => {
  const page = await open()
  const dialog = page.getByRole('dialog')
  await row(page, 'Meta').click()
  expect(await dialog.getByLabel('Access token').inputValue()).toBe('')
  await dialog.getByRole('button', { name: 'Send a test' }).click()
  await dialog.getByText('testEventCode is missing').waitFor()
  await dialog.getByLabel('Test code').fill('TEST1')
  await dialog.getByLabel('Where conversions happen').selectOption('email')
  await dashboard.service.sql`update sessions set confirmed_at = now() - interval '1 hour'`
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByText('Saved.').waitFor()
  const [{ id, secret, settings }] = await dashboard.service.sql<[{ id: string; secret: string; settings: object }]>`
    update destinations set settings = settings || ${JSON.stringify({ baseUrl: platform.url })}::text::jsonb
    where business_id = ${dashboard.businessId} and kind = 'meta' returning id, secret, settings`
  expect(settings).toEqual({ pixelId: '77', testEventCode: 'TEST1', actionSource: 'email', baseUrl: platform.url })
  await page.reload()
  await row(page, 'Meta').click()
  await dialog.getByText('Set on the server').waitFor()
  expect(await dialog.getByLabel('Where conversions happen').inputValue()).toBe('email')
  platform.reply = json(403, {})
  await dialog.getByRole('button', { name: 'Send a test' }).click()
  await dialog.getByText(/The destination did not accept it: HTTP 403/).waitFor()
  platform.reply = OK
  await dialog.getByLabel('Test code').fill('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const [changed] = await dashboard.service.sql`select secret, settings from destinations where id = ${id}`
  expect(changed).toEqual({ secret, settings: { pixelId: '77', actionSource: 'email', baseUrl: platform.url } })
})

it('offers a reader no destination to add', async () => {
  const page = await open('marketer@x.io')
  await row(page, 'Meta').click()
  await page.getByRole('dialog').getByText('Only owners can change destinations.').waitFor()
  expect(await page.getByRole('button', { name: 'Add a destination' }).count()).toBe(0)
})
