/**
 * Every page in light and dark, narrow and wide: no barriers by axe, nothing to scroll sideways, no complaints.
 * `bun test/dashboard/screenshots.ts FOLDER` also keeps a picture of each.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { PAGE_PATHS } from '../../src/dashboard/src/page-paths.ts'
import { createKey } from '../../src/businesses/keys.ts'
import { type Dashboard, findBarriers, openDashboard, settle, type Visit } from './open-dashboard.ts'

interface Shown extends Visit {
  name: string
  /** One of PAGE_PATHS, filled in, with a query if it needs one. */
  path: () => string
  /** Opens what is to be looked at. */
  open?: (page: Page) => Promise<void>
  isPolling?: boolean
}

let dashboard: Dashboard
let contactId: string
beforeAll(async () => {
  dashboard = await openDashboard()
  contactId = await sendPurchase()
})
afterAll(() => dashboard.close())

/** What the pages of a business show. Returns the id of its contact. */
async function sendPurchase(): Promise<string> {
  const { service, businessId } = dashboard
  const { key } = await createKey(service.sql, businessId, 'secret')
  const send = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${service.url}/api/sdk/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return (await response.json()) as { data: { contactId: string } }
  }
  const identity = { email: 'ann@x.io', phone: '+972541234567', platformCustomerId: 'c-1' }
  await send('identify', { identity, profile: { name: 'Ann Archer', country: 'FR', city: 'Lyon' } })
  const traits = { plan: 'pro', seats: 3 }
  const tags = ['vip', 'newsletter']
  const { data } = await send('track', { event: 'purchase', identity, value: 49.9, currency: 'EUR', traits, tags })
  return data.contactId
}

const settings = (page: string) => () => `/dashboard/b/${dashboard.businessId}/settings/${page}`

const SHOWN: Shown[] = [
  { name: 'contacts', path: () => `/dashboard/b/${dashboard.businessId}/contacts` },
  { name: 'contacts-none', path: () => `/dashboard/b/${dashboard.businessId}/contacts?query=nobody` },
  { name: 'contacts-he', path: () => `/dashboard/b/${dashboard.businessId}/contacts`, language: 'he' },
  { name: 'live', path: () => `/dashboard/b/${dashboard.businessId}/live`, isPolling: true },
  { name: 'contact', path: () => `/dashboard/b/${dashboard.businessId}/contacts/${contactId}` },
  { name: 'custom-fields', path: () => `/dashboard/b/${dashboard.businessId}/custom-fields` },
  { name: 'custom-field', path: () => `/dashboard/b/${dashboard.businessId}/custom-fields?field=plan` },
  { name: 'keys', path: settings('keys') },
  {
    name: 'new-key',
    path: settings('keys'),
    open: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByText('Copy it now').waitFor()
    },
  },
  { name: 'business', path: settings('business') },
  { name: 'business-he', path: settings('business'), language: 'he' },
  { name: 'people', path: settings('people') },
  { name: 'people-de', path: settings('people'), language: 'de' },
  { name: 'audit', path: settings('audit') },
  { name: 'sign-in', path: () => '/dashboard/sign-in', email: null },
  { name: 'forgot', path: () => '/dashboard/forgot', email: null },
  { name: 'link', path: () => '/dashboard/link', email: null },
  { name: 'account', path: () => '/dashboard/account' },
  { name: 'account-he', path: () => '/dashboard/account', language: 'he' },
  { name: 'account-de', path: () => '/dashboard/account', language: 'de' },
  {
    name: 'second-step',
    path: () => '/dashboard/account',
    open: async (page) => {
      await page.getByRole('button', { name: 'Set up' }).click()
      await page.getByRole('dialog').getByRole('img').waitFor()
    },
  },
  {
    name: 'palette',
    path: () => '/dashboard/account',
    open: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Go to a page, or do something' }).waitFor()
    },
  },
  {
    name: 'shortcuts',
    path: () => '/dashboard/account',
    open: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
    },
  },
]

const THEMES = ['light', 'dark'] as const
const WIDTHS = [360, 1280, 2560]
const FOLDER = process.env['SCREENSHOTS']

// One visit of each: the window of a page changes its size and its theme while it is open.
it.each(SHOWN)('$name, light and dark, narrow and wide', async ({ name, path, open, isPolling, ...visit }) => {
  const page = await dashboard.visit(path(), { ...visit, width: WIDTHS[0] })
  await settle(page, isPolling)
  await open?.(page)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme })
      await settle(page, isPolling)
      const shown = `${name}-${theme}-${width}`
      // What is open covers the window; a page is as long as it is.
      if (FOLDER !== undefined) {
        await page.screenshot({ path: join(FOLDER, `${shown}.png`), fullPage: open === undefined })
      }
      expect(await findBarriers(page), shown).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), shown).toBeLessThanOrEqual(0)
      expect(dashboard.complaints.splice(0), shown).toEqual([])
    }
  }
  await page.context().close()
})

it('all pages are among them', () => {
  const paths = SHOWN.map(({ path }) => path().split('?')[0] ?? '')
  const missing = PAGE_PATHS.filter((pattern) => {
    const parts = pattern.split('/')
    return !paths.some((path) => {
      const given = path.split('/')
      return given.length === parts.length && parts.every((part, at) => part.startsWith('$') || part === given[at])
    })
  })
  // It leads to another page.
  expect(missing).toEqual(['/dashboard'])
})
