/** The list of contacts and the page of one, in a real Chromium, by mouse and by keyboard. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  await addUser(dashboard.service.sql, 'keeper@x.io', { businessId: business.businessId, role: 'owner' })
  for (const role of ['marketer', 'read-only'] as const) {
    await addUser(dashboard.service.sql, `${role}2@x.io`, { businessId: business.businessId, role })
  }
  await track('ann@x.io', { event: 'purchase', value: 20, tags: ['vip'] }, 'Ann Archer')
  await track('bob@x.io', { event: 'signup' }, 'Bob Baker')
  await track(
    'eve@x.io',
    { event: HOSTILE, properties: { note: HOSTILE }, traits: { note: HOSTILE }, tags: [HOSTILE] },
    HOSTILE,
  )
  await track('gone@x.io', { event: 'signup' }, 'Gone Girl')
}, 60_000)
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function track(email: string, event: object, name: string): Promise<void> {
  await send('POST', '/api/sdk/track', { identity: { email }, idempotencyKey: `${email} 1`, ...event })
  await send('POST', '/api/sdk/identify', { identity: { email }, profile: { name } })
}

async function send(method: string, path: string, body: object): Promise<void> {
  const response = await fetch(dashboard.service.url + path, {
    method,
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([path, response.status]).toEqual([path, 200])
}

const list = (search = '') => `/dashboard/b/${business.businessId}/contacts${search}`
const open = (path: string, email = 'keeper@x.io') => dashboard.visit(path, { email })
const rows = (page: Page) => page.getByRole('grid').getByRole('row')

describe('the list', () => {
  it('shows contacts newest first, and how many there are', async () => {
    const page = await open(list())
    await page.getByText('4 contacts').waitFor()
    expect(await rows(page).nth(1).innerText()).toContain('Gone Girl')
    expect(await rows(page).nth(4).innerText()).toContain('Ann Archer')
    expect(await rows(page).nth(4).innerText()).toContain('$20')
  })

  it('searches while one types, and keeps the search in the address', async () => {
    const page = await open(list())
    await page.getByRole('searchbox', { name: /^Search name/ }).fill('archer')
    await page.waitForURL(/query=archer/)
    // Until the answer is there, the former rows stay.
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.reload()
    await page.getByRole('link', { name: 'Ann Archer' }).waitFor()
    await page.getByRole('searchbox', { name: /^Search name/ }).fill('nobody at all')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('4 contacts').waitFor()
  })

  it('filters by stage and by tag from the address', async () => {
    const page = await open(list('?tag=vip'))
    await page.getByRole('link', { name: 'Ann Archer' }).waitFor()
    expect(await rows(page).count()).toBe(2)
  })

  it('opens a contact by keyboard alone', async () => {
    const page = await open(list())
    await page.getByText('4 contacts').waitFor()
    await rows(page).nth(1).focus()
    await page.keyboard.press('ArrowDown')
    await page.waitForFunction('document.activeElement?.dataset.index === "1"')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1 }).getByText(HOSTILE).waitFor()
  })

  it('shows no name or address to a read-only person, and offers no search for them', async () => {
    const page = await open(list(), 'read-only2@x.io')
    await page.getByText('4 contacts').waitFor()
    expect(await page.getByRole('grid').innerText()).not.toContain('Ann')
    expect(await page.getByRole('searchbox', { name: /^Search name/ }).count()).toBe(0)
  })
})

describe('a contact', () => {
  it('shows who it is and what happened; what callers sent is text', async () => {
    const page = await openContact('eve')
    await page.getByRole('region', { name: 'Timeline' }).getByText(HOSTILE).first().waitFor()
    await page.getByRole('region', { name: 'Custom fields' }).getByText(HOSTILE).waitFor()
    expect(await page.locator('img[src=x]').count()).toBe(0)
  })

  it('is edited; what the server refuses stands at its field', async () => {
    const page = await openContact('bob')
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('City').fill('x'.repeat(1000))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await dialog.getByLabel('Country').fill('FR')
    await dialog.getByLabel('City').fill('Lyon')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('region', { name: 'Profile' }).getByText('Lyon').waitFor()
  })

  it('has its consent changed', async () => {
    const page = await openContact('bob')
    const email = page.getByRole('region', { name: 'Consent' }).getByLabel('Email')
    const before = await email.isChecked()
    await email.click()
    await page.getByText('The choice is recorded.').waitFor()
    await page.reload()
    await email.waitFor()
    expect(await email.isChecked()).toBe(!before)
  })

  it('is erased only by an owner who types the word', async () => {
    const marketer = await openContact('gone', 'marketer2@x.io')
    await marketer.getByRole('button', { name: 'Edit' }).waitFor()
    expect(await marketer.getByRole('button', { name: 'Erase' }).count()).toBe(0)
    const page = await openContact('gone')
    await page.getByRole('button', { name: 'Erase' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('erase')
    await dialog.getByRole('button', { name: 'Erase' }).click()
    await page.getByText('3 contacts').waitFor()
  })
})

async function openContact(name: string, email?: string): Promise<Page> {
  const page = await open(list(`?query=${name}%40x.io`), email)
  await rows(page).nth(1).getByRole('link').click()
  await page.getByRole('region', { name: 'Timeline' }).waitFor()
  return page
}
