// @pages
/** The custom fields page in a real Chromium, by mouse and by keyboard alone. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { insertKey } from '../../src/businesses/keys.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
  const { key } = await insertKey(dashboard.service.sql, dashboard.businessId, 'secret')
  const people = [{ plan: 'pro', seats: 3 }, { plan: 'pro', seats: 8 }, { plan: HOSTILE }, {}]
  for (const [index, traits] of people.entries()) {
    const response = await fetch(`${dashboard.service.url}/api/sdk/identify`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ identity: { platformCustomerId: `c${index}` }, traits }),
    })
    if (!response.ok) throw new Error(await response.text())
  }
  await dashboard.service.shipped()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const open = (search = '', email = 'marketer@x.io') =>
  dashboard.visit(`/dashboard/b/${dashboard.businessId}/custom-fields${search}`, { email })
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

it('shows how a field is filled and what it holds; a hostile value is text', async () => {
  const page = await open()
  await page.getByText('“Filled” is the share of 4 contacts that have a value.').waitFor()
  expect(await row(page, 'plan').innerText()).toContain('75%')
  await row(page, 'plan').click()
  const dialog = page.getByRole('dialog', { name: 'plan' })
  await dialog.getByText('3 of 4 contacts have a value. 2 different values.').waitFor()
  await dialog.getByText(HOSTILE).waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(new URL(page.url()).search).toBe('?field=plan')
  await page.goto(page.url().replace('field=plan', 'field=seats'))
  await page.getByRole('dialog', { name: 'seats' }).getByText('Median').waitFor()
})

it('describes and hides a field by keyboard alone', async () => {
  const page = await open()
  await settle(page)
  await row(page, 'seats').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('How many people')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await row(page, 'seats').waitFor({ state: 'detached' })
  await page.getByLabel('Show hidden fields').press('Space')
  expect(await row(page, 'seats').innerText()).toContain('How many people')
  expect(new URL(page.url()).search).toBe('?hidden=true')
})

it('shows a reader no values, and nothing to change', async () => {
  const page = await open('?field=plan', 'read-only@x.io')
  await page.getByRole('dialog', { name: 'plan' }).waitFor()
  await settle(page)
  expect(
    await page
      .getByRole('dialog')
      .getByText(/Most frequent|contacts have a value/)
      .count(),
  ).toBe(0)
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
})
