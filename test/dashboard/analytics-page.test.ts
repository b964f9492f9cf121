// @pages
/** The analytics pages in a real Chromium, by mouse and by keyboard alone. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Dashboard, type Visit, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const ZONE = 'America/New_York'
const HOSTILE = '<img src=x onerror="document.title=1">'

/** The business's time zone decides the day: there, the first event is on November 3, and the second on November 2. */
const EVENTS = [
  { event: 'signup', who: 'ann', at: '2024-11-03T04:00:00.000Z', properties: { plan: HOSTILE, seats: 3 } },
  { event: 'signup', who: 'bob', at: '2024-11-03T03:59:59.999Z', properties: { plan: 'free', seats: 4 } },
  { event: 'paid', who: 'ann', at: '2024-11-04T15:00:00.000Z', value: 20.1, currency: 'EUR' },
  { event: 'paid', who: 'ann', at: '2024-11-05T15:00:00.000Z', value: 10, currency: 'EUR' },
  { event: 'signup', who: 'cyd', at: '2024-10-31T15:00:00.000Z' },
]
const DAYS = 'from=2024-11-02&to=2024-11-05'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  const { sql, url } = dashboard.service
  business = await createBusiness(sql, { name: 'Bookshop', timezone: ZONE, currency: 'EUR' })
  for (const role of ['owner', 'marketer', 'read-only'] as const) {
    await addUser(sql, `${role}2@x.io`, { businessId: business.businessId, role })
  }
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
/** The cells of each row. */
const rowsOf = async (page: Page): Promise<string[][]> => {
  const rows = await page.locator('main table tr').all()
  return Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()))
}

it('shows events by day of the business, with the same figures as a table', async () => {
  const page = await open(`?${DAYS}`)
  await page.getByRole('img', { name: 'Events', exact: true }).locator('canvas').waitFor()
  expect(await rowsOf(page)).toEqual([
    ['Time', 'Events'],
    ['Total', '4'],
    ['Nov 2, 2024', '1'],
    ['Nov 3, 2024', '1'],
    ['Nov 4, 2024', '1'],
    ['Nov 5, 2024', '1'],
  ])
})

/**
 * Returns the time labels of the only chart of a page, for a reader in another zone. Labels that move: as they were drawn
 * last.
 */
async function labelsOf(path: string, visit: Visit): Promise<string[]> {
  const base = `/dashboard/b/${business.businessId}`
  const page = await dashboard.visit(`${base}/boards`, { email: 'marketer2@x.io', ...visit, isChanged: true })
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Australia/Lord_Howe' })
  await page.addInitScript(`{
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype
    globalThis.drawn = []
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
      globalThis.drawn = []
      return clearRect.apply(this, area)
    }
    CanvasRenderingContext2D.prototype.fillText = function (text, x, ...more) {
      if (this.textAlign === 'center') globalThis.drawn.push([x, text, this.measureText(text).width, this.canvas.width])
      return fillText.call(this, text, x, ...more)
    }
  }`)
  await page.goto(`${dashboard.service.url}${base}/analytics${path}`)
  await page.locator('.u-over').waitFor()
  await settle(page)
  const lines = await page.evaluate<[number, string, number, number][]>('globalThis.drawn')
  const at = [...Map.groupBy(lines, ([x]) => x)].toSorted(([one], [other]) => one - other)
  const edges = at.map(([x, those]) => ({ x, half: Math.max(...those.map(([, , width]) => width)) / 2 }))
  for (const [place, { x, half }] of edges.entries()) {
    const before = edges[place - 1]
    if (before) expect(x - half).toBeGreaterThan(before.x + before.half)
    expect(x - half).toBeGreaterThanOrEqual(0)
    expect(x + half).toBeLessThanOrEqual(lines[0]![3])
  }
  return at.map(([, those]) => those.map(([, text]) => text.replaceAll('\u202f', ' ')).join(' | '))
}

it('labels the times of a short range by the clock of the business, each once, and the day where it begins', async () => {
  expect(await labelsOf(`?${DAYS}`, { width: 1280 })).toEqual(['11/2 | 2024', '11/3', '11/4', '11/5'])
  const hours = '?from=2024-11-03&to=2024-11-04&interval=hour'
  expect(await labelsOf(hours, { width: 1280, language: 'de' })).toEqual([
    '00:00 | 3.11.',
    '06:00',
    '12:00',
    '18:00',
    '00:00 | 4.11.',
    '06:00',
    '12:00',
    '18:00',
  ])
  expect(await labelsOf(hours, { width: 360 })).toEqual(['12:00 AM | 11/3', '12:00 AM | 11/4'])
  expect(await labelsOf('?from=2024-11-03&to=2024-11-03&interval=day', { width: 360 })).toEqual(['Nov 3, 2024'])
})

it('says in UTC when a day of the business begins, in the chart and in its table', async () => {
  const page = await open(`?${DAYS}`)
  const chart = page.getByRole('img', { name: 'Events', exact: true })
  await chart.locator('.u-over').hover()
  // The clocks go back on the third.
  const begins = /2024, [45]:00:00\sAM UTC/
  expect(await chart.innerText()).toMatch(begins)
  expect(await page.getByRole('rowheader', { name: 'Nov 3, 2024' }).getAttribute('title')).toMatch(
    /Nov 3, 2024, 4:00:00\sAM UTC/,
  )
  expect(await page.getByRole('rowheader', { name: 'Nov 4, 2024' }).getAttribute('title')).toMatch(
    /Nov 4, 2024, 5:00:00\sAM UTC/,
  )
})

it('puts every choice into the URL, and compares with the period before', async () => {
  const page = await open(`?${DAYS}`)
  await page.getByLabel('Measure').selectOption('contacts')
  await page.getByLabel('Compare with the previous period').check()
  await page.getByText('Previous period: 1 (+100%)').waitFor()
  await page.getByLabel('Measure').selectOption('revenue')
  await page.getByText('€30.10').waitFor()
  await page.getByLabel('Measure').selectOption('sum')
  await page.getByText('Enter the property to add up').waitFor()
  await page.getByLabel('Property', { exact: true }).fill('seats')
  await page.getByRole('img', { name: 'Sum of seats' }).waitFor()
  await page.getByLabel('By', { exact: true }).selectOption('week')
  await settle(page)
  expect(queryOf(page)).toEqual({
    from: '2024-11-02',
    to: '2024-11-05',
    measure: 'sum',
    property: 'seats',
    interval: 'week',
    compare: 'true',
  })
  expect((await rowsOf(page))[1]).toEqual(['Total', '7', '0'])
  await page.getByLabel('Time range').selectOption('90')
  await page.getByText('Nothing in this time range').waitFor()
  expect(queryOf(page)).toMatchObject({ days: '90' })
  expect(queryOf(page)).not.toHaveProperty('from')
})

it('breaks down by a property; a hostile value is text', async () => {
  const page = await open(`?${DAYS}&events=["signup"]`)
  await page.getByLabel('Break down by').selectOption('property')
  await page.getByLabel('Property to break down by').fill('plan')
  await page.getByRole('columnheader', { name: HOSTILE }).waitFor()
  expect((await rowsOf(page)).slice(0, 2)).toEqual([
    ['Time', HOSTILE, 'free'],
    ['Total', '1', '1'],
  ])
  expect(await page.locator('main img').count()).toBe(0)
  await page.getByLabel('Rows').selectOption('4')
  await settle(page)
  expect(queryOf(page)).toMatchObject({ by: 'property', name: 'plan', top: '4', events: '["signup"]' })
})

it('chooses events by keyboard alone', async () => {
  const page = await open(`?${DAYS}`)
  await page.getByRole('button', { name: 'All events' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'paid' }).waitFor()
  await page.keyboard.type('pai')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Leave out “paid”' }).waitFor()
  await settle(page)
  expect((await rowsOf(page))[1]).toEqual(['Total', '2'])
  await page.getByRole('button', { name: 'Add an event' }).press('Enter')
  await page.keyboard.type('never seen')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Leave out “never seen”' }).waitFor()
  await page.getByRole('button', { name: 'Leave out “paid”' }).press('Enter')
  await page.getByText('Nothing in this time range').waitFor()
  expect(queryOf(page)).toMatchObject({ events: '["never seen"]' })
})

it('offers a reader no values of contacts to break down by', async () => {
  const page = await open(`?${DAYS}`, 'read-only2@x.io')
  const options = await page.getByLabel('Break down by').locator('option').allInnerTexts()
  expect(options).toEqual(['Nothing', 'Event', 'Source', 'Stage', 'Country', 'Segment'])
  expect((await rowsOf(page))[1]).toEqual(['Total', '4'])
})

it('says what to do when the answer takes too long, and tries again on request', async () => {
  const page = await open(`?${DAYS}`)
  let calls = 0
  await page.route('**/analytics/series*', (route) => {
    calls += 1
    const json = {
      success: false,
      message: 'Too slow.',
      error: { code: 'unavailable', reason: { code: 'too_much_to_read' } },
    }
    return calls === 1 ? route.fulfill({ status: 503, json }) : route.continue()
  })
  await page.getByLabel('Measure').selectOption('contacts')
  await page.getByRole('alert').getByText('Choose a shorter time range').waitFor()
  expect(calls).toBe(1)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('img', { name: 'Contacts' }).waitFor()
})

it('says that the server does not answer when that is why, and not the chart', async () => {
  const page = await open(`?${DAYS}`)
  const json = { success: false, message: 'Away.', error: { code: 'unavailable' } }
  await page.route('**/analytics/series*', (route) => route.fulfill({ status: 503, json }))
  await page.getByLabel('Measure').selectOption('contacts')
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).not.toContain('Choose a shorter time range')
})

it.each([
  ['en', 'Contacts', 'Other charts of this business are being computed', 'Try again'],
  ['de', 'Kontakte', 'Andere Diagramme des Unternehmens werden gerade berechnet', 'Noch einmal'],
  ['he', 'אנשי קשר', 'תרשימים אחרים של העסק מחושבים כעת', 'ניסיון נוסף'],
] as const)(
  'says in %s that others are being computed, after three more attempts',
  async (language, name, text, again) => {
    const base = `/dashboard/b/${business.businessId}/analytics`
    const page = await dashboard.visit(`${base}/funnel`, { email: 'marketer2@x.io', language })
    await settle(page)
    let calls = 0
    const json = { success: false, message: 'Slow down.', error: { code: 'rate_limited' } }
    await page.route('**/analytics/series*', (route) => {
      calls += 1
      return calls <= 4 ? route.fulfill({ status: 429, json }) : route.continue()
    })
    await page.goto(`${dashboard.service.url}${base}?${DAYS}&measure=contacts`)
    await page.getByRole('alert').getByText(text).waitFor()
    expect(calls).toBe(4)
    await page.getByRole('button', { name: again }).click()
    await page.getByRole('img', { name }).waitFor()
  },
)

const STEPS = 'steps=["signup","paid"]'

it('builds a funnel by keyboard, with its bars and times', async () => {
  const page = await open(`/funnel?${DAYS}`)
  await page.getByText('Add at least two steps').waitFor()
  for (const step of ['signup', 'paid']) {
    await page.getByRole('button', { name: 'Add a step' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('option', { name: step }).waitFor()
    await page.keyboard.type(step)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Leave out “${step}”` }).waitFor()
  }
  await page.getByRole('table').waitFor()
  await settle(page)
  expect(await rowsOf(page)).toMatchObject([
    ['Step', 'Contacts', 'Conversion', 'Of the previous step', 'Median time', 'Dropped out'],
    ['signup', '2', '100%', '–', '–', '1'],
    ['paid', '1', '50%', '50%', '1.5 days', '0'],
  ])
  await page.getByLabel('Within').selectOption('1')
  await page.getByRole('button', { name: 'Show the 2 who dropped out after signup' }).waitFor()
  await page.getByRole('button', { name: 'Move “paid” up' }).press('Enter')
  await page.getByRole('row', { name: /^paid/ }).waitFor()
  await settle(page)
  expect(queryOf(page)).toMatchObject({ steps: '["paid","signup"]', window: '1' })
  await page.getByLabel('Order').selectOption('any')
  await page.getByRole('rowheader', { name: 'Step 1' }).waitFor()
})

it('lists who dropped out, and makes a segment of them', async () => {
  const from = new Date(Date.now() - 86_400_000 * 3000).toISOString().slice(0, 10)
  const page = await open(`/funnel?${STEPS}&from=${from}`)
  await page.getByRole('button', { name: 'Show the 2 who dropped out after signup' }).click()
  const list = page.getByRole('grid', { name: 'Dropped out after signup' })
  await list.getByRole('row').nth(2).waitFor()
  expect(queryOf(page)).toMatchObject({ dropped: '1' })
  await page.getByText('ignores the order of the steps').waitFor()
  await page.getByRole('button', { name: 'Make a segment' }).click()
  await page.waitForURL('**/segments/new')
  expect(await page.getByLabel('Name').first().inputValue()).toBe('Dropped out after signup')
})

it('does not lose a segment that was begun without asking', async () => {
  const from = new Date(Date.now() - 86_400_000 * 3000).toISOString().slice(0, 10)
  const page = await open(`/funnel?${STEPS}&from=${from}&dropped=1`)
  const root = { id: 'a', kind: 'all', nots: 0, nodes: [] }
  const begun = { name: 'Begun', description: '', tree: { root, isBare: false }, version: 0 }
  const key = `sluice.segment.${business.businessId}.new`
  await page.evaluate(`sessionStorage.setItem('${key}', '${JSON.stringify(begun)}')`)
  await page.getByRole('button', { name: 'Make a segment' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  await page.waitForURL('**/segments/new')
  expect(await page.getByLabel('Name').first().inputValue()).toBe('Dropped out after signup')
})

it('makes no segment of a time range that is over, and shows a reader no people', async () => {
  const marketer = await open(`/funnel?${STEPS}&${DAYS}&dropped=1`)
  await marketer.getByRole('grid', { name: 'Dropped out after signup' }).waitFor()
  expect(await marketer.getByRole('button', { name: 'Make a segment' }).count()).toBe(0)
  const reader = await open(`/funnel?${STEPS}&${DAYS}&dropped=1`, 'read-only2@x.io')
  await reader.getByRole('table').waitFor()
  await settle(reader)
  expect((await rowsOf(reader))[1]?.at(-1)).toBe('1')
  expect(await reader.getByRole('grid').count()).toBe(0)
  expect(await reader.getByRole('button', { name: /dropped out/ }).count()).toBe(0)
})

it('names what a funnel in any order needs', async () => {
  const page = await open(`/funnel?steps=["paid","paid"]&order=any&${DAYS}`)
  await page.getByText('each step must be a different event').waitFor()
})

it('shows who comes back, as a triangle and a curve', async () => {
  const page = await open(`/retention?${DAYS}`)
  for (const [label, event] of [
    ['First event', 'signup'],
    ['Returning event', 'paid'],
  ] as const) {
    await page.getByRole('group', { name: label }).getByRole('button').first().press('Enter')
    await page.getByRole('option', { name: event }).waitFor()
    await page.keyboard.type(event)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Leave out “${event}”` }).waitFor()
  }
  await settle(page)
  expect(queryOf(page)).toMatchObject({ first: 'signup', returning: 'paid' })
  expect((await rowsOf(page)).map((row) => row.slice(0, 5))).toEqual([
    ['Began', 'Contacts', '0', '1', '2'],
    ['Nov 2, 2024', '1', '0%', '0%', '0%'],
    ['Nov 3, 2024', '1', '0%', '100%', '100%'],
    ['Nov 4, 2024', '0', '–', '–', '–'],
    ['Nov 5, 2024', '0', '–', '–', '–'],
  ])
  await page
    .getByRole('img', { name: 'Share who came back, by days since the first event' })
    .locator('canvas')
    .waitFor()
  await page.getByRole('button', { name: 'As a table' }).click()
  await page.getByRole('row', { name: '1 50%' }).waitFor()
  await page.getByRole('button', { name: 'Leave out “signup”' }).press('Enter')
  await page.getByLabel('By', { exact: true }).selectOption('month')
  await page.getByRole('rowheader', { name: 'November 2024' }).waitFor()
  expect(queryOf(page)).not.toHaveProperty('first')
})

it('shows revenue of a currency, and what customers are worth', async () => {
  const page = await open(`/revenue?${DAYS}`)
  await page.getByLabel('Compare with the previous period').check()
  await page.getByText('Previous period: €0.00').first().waitFor()
  await settle(page)
  const figures = await page.locator('main dl dt, main dl dd > span:first-child').allInnerTexts()
  expect(figures).toEqual([
    'Net',
    '€30.10',
    'Gross',
    '€30.10',
    'Refunds',
    '€0.00',
    'Average order',
    '€15.05',
    'Orders',
    '2',
    'Customers',
    '1',
    'Repeat rate',
    '100%',
  ])
  const rows = await rowsOf(page)
  expect(rows.slice(0, 2)).toEqual([
    ['Time', 'Net', 'Gross', 'Refunds', 'Average order'],
    ['Total', '30.1', '30.1', '0', '15.05'],
  ])
  expect(rows).toContainEqual(['Total', '2', '1'])
  const worth = page.getByRole('region', { name: 'Lifetime value' })
  await worth.getByRole('row', { name: /^Nov 4, 2024 1 100% €20\.10 €30\.10/ }).waitFor()
  await page.getByLabel('By', { exact: true }).selectOption('week')
  await settle(page)
  expect(queryOf(page)).toMatchObject({ compare: 'true', interval: 'week' })
})

it('says that there is no revenue', async () => {
  const page = await open(`/revenue?currency=USD&${DAYS}`)
  await expect.poll(() => page.getByText('Nothing in this time range').count(), { timeout: PATIENCE_MS }).toBe(2)
})

it('passes the time range on from page to page, by keyboard', async () => {
  const page = await open(`?${DAYS}&measure=contacts`)
  const tabs = page.getByRole('navigation', { name: 'Pages of analytics' }).getByRole('link')
  expect(await tabs.allInnerTexts()).toEqual([
    'Events',
    'Funnel',
    'Retention',
    'Revenue',
    'Attribution',
    'Lifecycle',
    'Stages',
    'Web',
    'Engagement',
    'Campaigns and segments',
  ])
  for (const name of ['Revenue', 'Lifecycle', 'Stages']) {
    await tabs.filter({ hasText: name }).press('Enter')
    await page.getByRole('heading', { level: 1, name }).waitFor()
    expect(queryOf(page)).toEqual({ from: '2024-11-02', to: '2024-11-05' })
    expect(await tabs.filter({ hasText: name }).getAttribute('aria-current')).toBe('page')
    expect(await tabs.first().getAttribute('aria-current')).toBe(null)
  }
})
