// @pages
/** The attribution page in a real Chromium: models and spend from a file, by mouse and by keyboard alone. */
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { texts as german } from '../../src/dashboard/src/texts/de/attribution.ts'
import { texts as hebrew } from '../../src/dashboard/src/texts/he/attribution.ts'
import { BROWSER } from '../front-door/http-client.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'
const DAY = 86_400_000
const VISITOR = 'd'.repeat(32)
/** Noon a few days ago: the business is in UTC. */
const at = (ago: number) => Math.floor(Date.now() / DAY) * DAY - ago * DAY + DAY / 2
const dayOf = (ago: number) => new Date(at(ago)).toISOString().slice(0, 10)

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  const { sql } = dashboard.service
  business = await createBusiness(sql, { name: 'Bookshop', currency: 'EUR' })
  for (const role of ['owner', 'marketer', 'read-only'] as const)
    await addUser(sql, `${role}2@x.io`, { businessId: business.businessId, role })
  await come(10, { source: 'google', medium: 'cpc', campaign: 'spring' })
  await come(6, { source: 'news', medium: 'email', campaign: HOSTILE })
  const identity = { email: 'ann@x.io' }
  await send('sdk/identify', { identity, visitorId: VISITOR })
  const track = (event: string, ago: number, value?: number) =>
    send('sdk/track', { event, identity, value, occurredAt: new Date(at(ago)).toISOString() })
  await track('paid', 8, 30)
  await track('paid', 5, 90)
  await track('signup', 5)
  await dashboard.service.shipped()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function post(path: string, body: object, headers: Record<string, string>): Promise<void> {
  const response = await fetch(`${dashboard.service.url}/api/${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
}
const send = (path: string, body: object) => post(path, body, { Authorization: `Bearer ${business.secretKey}` })
async function come(ago: number, utm: object): Promise<void> {
  const ageMs = Date.now() - at(ago)
  const latest = { ageMs, url: 'https://shop.example/', utm }
  const { businessId } = business
  await post('sdk/browser/track', { businessId, event: 'came', visitorId: VISITOR, ageMs, latest }, { ...BROWSER })
}

async function open(query = '', email = 'marketer2@x.io'): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/analytics/attribution${query}`, { email })
  await settle(page)
  return page
}
const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const rowsOf = async (page: Page): Promise<string[][]> => {
  const rows = await page.locator('main table tr').all()
  return Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()))
}
const HEADS = ['Conversions', 'Revenue', 'Spend', 'Return', 'Cost per conversion']

it('imports spend from a file, and shows the return on it', async () => {
  const page = await open()
  expect(await rowsOf(page)).toEqual([
    ['Channel', ...HEADS, 'Share of revenue'],
    ['Total', '2', '€120.00', '€0.00', '–', '–', ''],
    ['Email', '1', '€90.00', '€0.00', '–', '–', '75%'],
    ['Paid search', '1', '€30.00', '€0.00', '–', '–', '25%'],
  ])
  await page.getByRole('button', { name: 'Import spend' }).click()
  const dialog = page.getByRole('dialog')
  const text = [
    '\uFEFFDate;Campaign;Cost',
    `${dayOf(8)};spring;"15,50"`,
    `${dayOf(8)};spring;4,5`,
    `${dayOf(5)};"${HOSTILE.replaceAll('"', '""')}";1.234`,
    '28.02.2026;spring;5',
  ].join('\r\n')
  await dialog.getByLabel('CSV file').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await dialog.getByRole('button', { name: 'Check the file' }).click()
  await dialog.getByText('0 rows can be saved. 4 are refused.').waitFor()
  await dialog.getByText('channel must be one of').first().waitFor()
  await dialog.getByLabel('Channel').selectOption('paid_search')
  await dialog.getByRole('button', { name: 'Check the file' }).click()
  await dialog.getByText('2 rows can be saved. 2 are refused.').waitFor()
  await dialog.getByText('are added up: 1 will be saved').waitFor()
  await dialog.getByText('Line 4: amount 1.234 can be read in two ways').waitFor()
  await dialog.getByText('Line 5: day must be a date').waitFor()
  await dialog.getByRole('button', { name: 'Save 1 row' }).click()
  await page.getByText('Spend saved. New: 1. Changed: 0.').waitFor()
  await page.getByRole('row', { name: /^Paid search 1 €30\.00 €20\.00 1\.5 €20\.00/ }).waitFor()
  expect((await rowsOf(page))[1]).toEqual(['Total', '2', '€120.00', '€20.00', '6', '€10.00', ''])
})

it('imports by keyboard alone; the same file again changes nothing', async () => {
  const page = await open('?by=campaign')
  const button = page.getByRole('button', { name: 'Import spend' })
  await button.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  const text = `day,channel,source,campaign,amount\n${dayOf(5)},email,news,autumn,7\n`
  await dialog.getByLabel('CSV file').setInputFiles({ name: 'b.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  for (const outcome of ['New: 1. Changed: 0.', 'New: 0. Changed: 0.']) {
    if (!(await dialog.isVisible())) {
      await button.press('Enter')
      await dialog
        .getByLabel('CSV file')
        .setInputFiles({ name: 'b.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    }
    // The page has taken the file when it is at rest.
    await settle(page)
    await dialog.getByLabel('Source').focus()
    await page.keyboard.press('Enter')
    const save = dialog.getByRole('button', { name: 'Save 1 row' })
    await save.waitFor()
    await save.press('Enter')
    await page.getByText(outcome).waitFor()
    await dialog.waitFor({ state: 'detached' })
  }
  await page.getByRole('rowheader', { name: 'autumn' }).waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  expect((await rowsOf(page)).map(([name]) => name)).toContain(HOSTILE)
})

it('puts every choice into the URL, and shows two models side by side', async () => {
  const page = await open()
  await page.getByLabel('Rows').selectOption('source')
  await page.getByLabel('Model', { exact: true }).selectOption('linear')
  await page.getByLabel('Compare with').selectOption('first')
  await page.getByRole('columnheader', { name: 'Revenue: First touch' }).waitFor()
  await settle(page)
  expect(queryOf(page)).toEqual({ by: 'source', model: 'linear', beside: 'first' })
  const [heads = [], , google = []] = await rowsOf(page)
  const cell = (head: string) => google[heads.indexOf(head)]
  expect([google[0], cell('Revenue: Linear'), cell('Revenue: First touch')]).toEqual(['google', '€75.00', '€120.00'])
  await page.getByLabel('Model', { exact: true }).selectOption('first')
  await page.getByRole('columnheader', { name: 'Revenue', exact: true }).waitFor()
  await page.getByRole('group', { name: 'Conversion' }).getByRole('button').first().press('Enter')
  await page.getByRole('option', { name: 'signup' }).waitFor()
  await page.keyboard.type('signup')
  await page.keyboard.press('Enter')
  await page.getByRole('columnheader', { name: 'Share of conversions' }).waitFor()
  await page.getByRole('row', { name: /^google 1 €0\.00/ }).waitFor()
  expect(queryOf(page)).toEqual({ by: 'source', model: 'first', event: 'signup' })
  await page.getByLabel('Rows').selectOption('landing_page')
  await page.getByRole('rowheader', { name: 'https://shop.example/' }).waitFor()
  await settle(page)
  expect((await rowsOf(page))[0]).toEqual(['Landing page', 'Conversions', 'Revenue', 'Share of conversions'])
})

it('downloads what it shows', async () => {
  const page = await open('?by=source')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download as CSV' }).click(),
  ])
  const [head, ...lines] = (await readFile(await file.path(), 'utf8')).split('\r\n')
  expect(head).toBe(`\uFEFFSource,Currency,${HEADS.join(',')}`)
  expect(lines).toContainEqual(expect.stringMatching(/^news,EUR,1,90,7,12\.857/) as unknown)
})

it('says what to do when nothing is there, and deletes the spend of the days that are shown', async () => {
  const none = await open('?from=2020-01-01&to=2020-01-31')
  await none.getByText('No orders and no spend in this time range').waitFor()
  expect(await none.getByRole('button', { name: 'Import spend' }).count()).toBe(2)
  const page = await open(`?by=campaign&from=${dayOf(5)}&to=${dayOf(5)}`)
  await page.getByRole('rowheader', { name: 'autumn' }).waitFor()
  await page.getByRole('button', { name: 'Delete spend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete spend' }).click()
  await page.getByText('1 row of spend deleted.').waitFor()
  await page.getByRole('rowheader', { name: 'autumn' }).waitFor({ state: 'detached' })
})

it('shows a reader the figures, and nothing to change', async () => {
  const page = await open('', 'read-only2@x.io')
  await page.getByRole('rowheader', { name: 'Email' }).waitFor()
  expect(await page.getByRole('button', { name: /spend/ }).count()).toBe(0)
})

it.each([
  [
    'de',
    german,
    ['amount: „1.234“ lässt sich auf zwei Arten lesen: Schreiben Sie kein Zeichen zwischen die Tausender'],
    'In der ersten Zeile fehlen diese Spalten: day (day, date)',
  ],
  [
    'he',
    hebrew,
    ['amount: אפשר לקרוא את „1.234” בשתי דרכים: יש לכתוב בלי סימן בין האלפים'],
    'בשורה הראשונה חסרות העמודות האלה: day (day, date)',
  ],
] as const)(
  'says in the language of the page why rows and a file are refused: %s',
  async (language, texts, rows, file) => {
    const url = `/dashboard/b/${business.businessId}/analytics/attribution`
    const page = await dashboard.visit(url, { email: 'marketer2@x.io', language })
    await page.getByRole('button', { name: texts.importSpend }).click()
    const dialog = page.getByRole('dialog')
    const choose = async (text: string) => {
      await dialog
        .locator('[name=file]')
        .setInputFiles({ name: 'd.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
      await dialog.locator('button[type=submit]').click()
    }
    const plain = (text: string) => text.replaceAll(/[\u2066-\u2069]/g, '')
    await choose(`day;channel;amount\n${dayOf(5)};email;1.234\n`)
    await dialog.locator('li bdi').first().waitFor()
    expect((await dialog.locator('li bdi').allInnerTexts()).map(plain)).toEqual(rows)
    await choose('channel,amount\nemail,1\n')
    await dialog.getByRole('alert').waitFor()
    expect(plain(await dialog.getByRole('alert').innerText())).toContain(file)
  },
)

it('refuses a file that is too large or no text', async () => {
  const page = await open()
  await page.getByRole('button', { name: 'Import spend' }).click()
  const dialog = page.getByRole('dialog')
  const choose = async (buffer: Buffer) => {
    await dialog.getByLabel('CSV file').setInputFiles({ name: 'c.csv', mimeType: 'text/csv', buffer })
    await dialog.getByRole('button', { name: 'Check the file' }).click()
  }
  await choose(Buffer.alloc(4 * 1024 * 1024 + 1, 'a'))
  await dialog.getByText('The file is larger than 4 MB').waitFor()
  await choose(Buffer.from([0x61, 0xff, 0xfe]))
  await dialog.getByText('not UTF-8 or UTF-16').waitFor()
  await choose(Buffer.from('clicks\n1\n'))
  await dialog.getByText('names no column of these: day').waitFor()
})
