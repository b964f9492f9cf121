// @pages
/** Conditions on properties, a second series and a formula on the event and funnel pages, in a real Chromium. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const EVENTS = [
  { event: 'signup', who: 'ann', at: '2024-11-03T04:00:00.000Z', properties: { plan: 'pro', seats: 3 } },
  { event: 'signup', who: 'bob', at: '2024-11-03T05:00:00.000Z', properties: { plan: 'free', seats: 4 } },
  { event: 'signup', who: 'cyd', at: '2024-11-04T05:00:00.000Z', properties: { plan: 'free', seats: 9 } },
  {
    event: 'paid',
    who: 'ann',
    at: '2024-11-04T15:00:00.000Z',
    value: 20,
    currency: 'EUR',
    properties: { plan: 'pro' },
  },
  {
    event: 'paid',
    who: 'bob',
    at: '2024-11-04T15:00:00.000Z',
    value: 6,
    currency: 'USD',
    properties: { plan: 'free' },
  },
]
const DAYS = 'from=2024-11-03&to=2024-11-04'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  const { sql, url } = dashboard.service
  business = await createBusiness(sql, { name: 'Bookshop', currency: 'EUR' })
  for (const role of ['owner', 'marketer', 'read-only'] as const)
    await addUser(sql, `${role}2@x.io`, { businessId: business.businessId, role })
  for (const { who, at, ...event } of EVENTS) {
    const response = await fetch(`${url}/api/sdk/track`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...event, identity: { email: `${who}@x.io` }, occurredAt: at }),
    })
    if (!response.ok) throw new Error(await response.text())
  }
  await dashboard.service.shipped()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function open(path: string, email = 'marketer2@x.io'): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/analytics${path}`, { email })
  await settle(page)
  return page
}
const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
/** Returns the rows with totals. */
const totalsOf = async (page: Page): Promise<string[][]> => {
  const rows = await page.locator('main table tr').filter({ hasText: 'Total' }).all()
  return Promise.all(rows.map((row) => row.locator('td').allInnerTexts()))
}

it('counts events by conditions on their properties', async () => {
  const page = await open(`?${DAYS}&events=["signup"]`)
  await page.getByRole('button', { name: 'Only where' }).click()
  const condition = page.getByRole('group', { name: 'Only where' })
  await condition.getByRole('textbox', { name: 'Property' }).fill('plan')
  await settle(page)
  // The condition is incomplete, so all are counted.
  expect(await totalsOf(page)).toEqual([['3']])
  await condition.getByLabel('Value').fill('free')
  await page.waitForURL(/where=/)
  await settle(page)
  expect(await totalsOf(page)).toEqual([['2']])
  expect(queryOf(page)).toMatchObject({ where: '[{"property":"plan","operator":"equals","value":"free"}]' })
  await page.getByRole('button', { name: 'Only where' }).click()
  const second = page.getByRole('group', { name: 'Only where' }).nth(1)
  await second.getByRole('textbox', { name: 'Property' }).fill('seats')
  await second.getByLabel('Comparison').selectOption('number greater_than')
  await second.getByLabel('Value').fill('5')
  await page.waitForURL(/seats/)
  await settle(page)
  expect(await totalsOf(page)).toEqual([['1']])
  // A reload shows the same, from the URL alone.
  await page.reload()
  await settle(page)
  expect(await totalsOf(page)).toEqual([['1']])
  await page.getByRole('button', { name: 'Remove this property' }).first().press('Enter')
  await page.waitForURL((url) => !url.search.includes('plan'))
  expect(await page.getByRole('group', { name: 'Only where' }).count()).toBe(1)
})

it('computes with two series, each with conditions of its own, by keyboard', async () => {
  const page = await open(`?${DAYS}&events=["signup"]&measure=contacts`)
  await page.getByRole('button', { name: 'Add a second series' }).press('Enter')
  const second = page.getByRole('group', { name: 'Series b' })
  await second.getByRole('button', { name: 'All events' }).press('Enter')
  await page.getByRole('option', { name: 'paid' }).waitFor()
  await page.keyboard.type('paid')
  await page.keyboard.press('Enter')
  await second.getByRole('button', { name: 'Leave out “paid”' }).waitFor()
  await second.getByLabel('Measure').selectOption('revenue')
  await page.getByLabel('Formula').fill('b / a')
  await page.getByRole('img', { name: 'b / a' }).waitFor()
  await page.getByLabel('Compare with the previous period').check()
  await settle(page)
  expect(await totalsOf(page)).toEqual([
    ['6.67', '–'],
    ['3', '0'],
    ['20', '0'],
  ])
  await page.getByRole('img', { name: 'a: Contacts (signup)' }).waitFor()
  await second.getByLabel('Currency').fill('usd')
  await page.getByRole('img', { name: 'b: Revenue, USD (paid)' }).waitFor()
  await settle(page)
  expect((await totalsOf(page))[2]).toEqual(['6', '0'])
  expect(queryOf(page)).toMatchObject({
    second: '{"events":["paid"],"measure":"revenue","currency":"USD"}',
    formula: 'b / a',
    compare: 'true',
  })
  await page.getByLabel('Formula').fill('b / c')
  await page.getByText('must be arithmetic on a and b').first().waitFor()
  await page.getByRole('button', { name: 'Remove series b' }).press('Enter')
  await settle(page)
  expect(await totalsOf(page)).toEqual([['3', '0']])
  expect(queryOf(page)).not.toHaveProperty('formula')
})

it('narrows the steps of a funnel', async () => {
  const page = await open(`/funnel?${DAYS}&steps=["signup","paid"]`)
  await page.getByRole('row', { name: /^paid 2/ }).waitFor()
  await page.getByRole('button', { name: 'Only where' }).nth(1).click()
  const condition = page.getByRole('group', { name: 'Only where' })
  await condition.getByRole('textbox', { name: 'Property' }).fill('plan')
  await condition.getByLabel('Value').fill('pro')
  await page.getByRole('row', { name: /^paid 1/ }).waitFor()
  expect(queryOf(page)).toMatchObject({
    steps: '["signup",{"event":"paid","where":[{"property":"plan","operator":"equals","value":"pro"}]}]',
  })
  // A step keeps its conditions when it moves.
  await page.getByRole('button', { name: 'Move “paid” up' }).press('Enter')
  await page.waitForURL((url) => url.searchParams.get('steps')?.startsWith('[{"event":"paid"') === true)
  expect(await page.getByLabel('Value').inputValue()).toBe('pro')
})

it('offers a reader no conditions', async () => {
  const events = await open(`?${DAYS}`, 'read-only2@x.io')
  expect(await totalsOf(events)).toEqual([['5']])
  expect(await events.getByRole('button', { name: 'Only where' }).count()).toBe(0)
  const funnel = await open(`/funnel?${DAYS}&steps=["signup","paid"]`, 'read-only2@x.io')
  await funnel.getByRole('row', { name: /^paid/ }).waitFor()
  expect(await funnel.getByRole('button', { name: 'Only where' }).count()).toBe(0)
  const link = await open(`?${DAYS}&where=[{"property":"plan","operator":"equals","value":"pro"}]`, 'read-only2@x.io')
  await link.getByRole('alert').waitFor()
})
