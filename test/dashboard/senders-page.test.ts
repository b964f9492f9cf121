// @pages
/** Senders in a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { texts as german } from '../../src/dashboard/src/texts/de/senders.ts'
import { texts as hebrew } from '../../src/dashboard/src/texts/he/senders.ts'
import { speakTo } from '../front-door/http-client.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, findBarriers, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  for (const role of ['owner', 'read-only'] as const)
    await addUser(dashboard.service.sql, emailOf(role), { businessId: business.businessId, role })
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const emailOf = (role: string) => `${role}-${business.businessId}@x.io`

async function send<Data>(method: string, path: string, json?: object): Promise<Data> {
  const { status, body } = await speakTo(dashboard.service.url)(method, `/api/${path}`, {
    key: business.secretKey,
    json,
  })
  expect([path, status, body]).toMatchObject([path, 200, {}])
  return body.data as Data
}
const sender = async (path: string) =>
  (await send<{ sender: Record<string, unknown> }>('GET', `senders/${path}`)).sender

async function open({ role = 'owner', language = 'en' }: { role?: string; language?: 'en' | 'de' | 'he' } = {}) {
  const url = `/dashboard/b/${business.businessId}/settings/senders`
  const page = await dashboard.visit(url, { email: emailOf(role), language })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const SMTP = { channel: 'email', provider: 'smtp', host: 'localhost', port: 2525 }

describe('senders', () => {
  it('are created, with a connection of their own or that of another one; what the server refuses is at its field', async () => {
    const page = await open()
    await button(page, 'New sender').click()
    const dialog = page.getByRole('dialog', { name: 'New sender' })
    await dialog.getByLabel('Key', { exact: true }).fill('Receipts')
    await dialog.getByLabel('From', { exact: true }).fill('Shop <hello@shop.example>')
    await dialog.getByLabel('Host').fill('localhost')
    await dialog.getByLabel('Messages per day, at most').fill('500')
    await button(page, 'Save').click()
    await dialog.getByLabel('Key', { exact: true }).and(page.locator('[aria-invalid]')).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await dialog.getByLabel('Key', { exact: true }).fill('receipts')
    await button(page, 'Save').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await sender('receipts')).toMatchObject({
      host: 'localhost',
      dailyBudget: 500,
      sender: 'Shop <hello@shop.example>',
    })
    await row(page, 'receipts').getByText('0 / 500').waitFor()

    await button(page, 'New sender').click()
    await dialog.getByLabel('Key', { exact: true }).fill('news')
    await dialog.getByLabel('Connection').selectOption('That of receipts')
    await dialog.getByLabel('From', { exact: true }).fill('news@shop.example')
    await button(page, 'Save').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await sender('news')).toMatchObject({ via: 'receipts', from: { address: 'news@shop.example' } })
  })

  it('are paused and resumed in their row, changed, made the default, and deleted', async () => {
    await send('POST', 'senders', { key: 'receipts', ...SMTP, from: 'hello@shop.example', perSecond: 5 })
    await send('POST', 'senders', { key: 'spare', ...SMTP, from: 'spare@shop.example' })
    const page = await open()
    await row(page, 'receipts').getByRole('button', { name: 'Pause' }).click()
    await row(page, 'receipts').getByText('Paused').waitFor()
    expect(await sender('receipts')).toMatchObject({ status: 'paused', pauseReason: `Paused by ${emailOf('owner')}` })
    await row(page, 'receipts').getByRole('button', { name: 'Resume' }).click()
    await row(page, 'receipts').getByText('Running').waitFor()

    await row(page, 'receipts').getByText('hello@shop.example').click()
    const dialog = page.getByRole('dialog', { name: 'receipts' })
    await dialog.getByText('It has sent nothing in the last 30 days.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await dialog.getByLabel('Messages per second, at most').fill('')
    await dialog.getByLabel('Sender in its place').selectOption('spare')
    await button(page, 'Save').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await sender('receipts')).toMatchObject({ perSecond: null, fallback: 'spare', host: 'localhost' })

    await row(page, 'receipts').getByText('hello@shop.example').click()
    await dialog.getByRole('button', { name: 'Make it the default of the channel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await sender('receipts')).toMatchObject({ isDefault: true })
    await send('PATCH', 'senders/receipts', { fallback: null })
    await row(page, 'spare@').getByText('spare@shop.example').click()
    await page.getByRole('dialog', { name: 'spare' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete this sender?' }).getByRole('button', { name: 'Delete' }).click()
    await row(page, 'spare@').waitFor({ state: 'detached' })
  })

  it('are read by everybody, and changed by owners', async () => {
    await send('POST', 'senders', { key: 'receipts', ...SMTP, from: 'hello@shop.example' })
    const page = await open({ role: 'read-only' })
    await row(page, 'receipts').waitFor()
    expect(await button(page, 'New sender').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0)
    await row(page, 'receipts').click()
    await page.getByText('Only owners can change senders.').waitFor()
  })

  it.each([
    ['de', german.title],
    ['he', hebrew.title],
  ] as const)('have their page in %s', async (language, title) => {
    await send('POST', 'senders', { key: 'receipts', ...SMTP, from: 'hello@shop.example' })
    const page = await open({ language })
    await page.getByRole('heading', { name: title, exact: true }).waitFor()
    await row(page, 'receipts').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })
})
