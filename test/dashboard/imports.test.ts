// @pages
/** The imports page in a real Chromium, by mouse and by keyboard alone. */
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { enter, typeInto } from './tab-to.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const open = (email = 'owner@x.io') => dashboard.visit(`/dashboard/b/${dashboard.businessId}/imports`, { email })
const choose = (page: Page, name: string, content: string | Buffer) =>
  page.getByLabel(/^CSV or NDJSON/).setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
const countEvents = async (event: string): Promise<number> => {
  const [row] = await dashboard.service.sql<[{ count: number }]>`
    select coalesce(sum(count), 0)::int as count from event_statistics
    where business_id = ${dashboard.businessId} and event = ${event}`
  return row.count
}

it('guesses the order of a file of a shop, leaves out its other rows, and takes the delimiter that its first line names', async () => {
  const items = [
    'Name;Email;Total;Created at;;Lineitem name',
    '#1001;ann@x.io;799,00;2024-09-03 10:00:00 +0200;;Boots',
    '#1001;ann@x.io;;;;Socks',
    '#1002;bob@x.io;1.234;2024-09-04 10:00:00 +0200',
  ]
  const page = await open()
  await choose(page, 'orders_export.csv', `sep=;\r\n${items.join('\n')}\n`)
  await page.getByRole('button', { name: 'Next' }).click()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('idempotencyKey')
  await page.getByLabel('Event name').fill('shop_order')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByText('3 rows. 2 would be refused.').waitFor()
  await page.getByText('the time is empty').first().waitFor()
  await page.getByRole('button', { name: 'Change the mapping' }).click()
  await page.getByLabel('Event name').fill('shop_order')
  await page.getByLabel('Decimals are separated by').selectOption('comma')
  await page.getByLabel('Rows without a time').selectOption('skip')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByText('3 rows. None would be refused.').waitFor()
  await page.getByText('Without a time and left out: 1.').waitFor()
  await page.getByRole('button', { name: 'Import 2 rows' }).click()
  await page.getByText('The import is complete').waitFor()
  expect(await countEvents('shop_order')).toBe(2)
})

it('says that a file has several rows of one event, and refuses a file whose quotation mark does not end', async () => {
  const page = await open()
  await choose(page, 'rows.csv', 'order id,email,date\n7,a@x.io,2026-01-01\n7,a@x.io,2026-01-02\n8,a@x.io,2026-01-02\n')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('Event name').fill('row')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByText('Rows that repeat the event ID of an earlier row: 1.').waitFor()
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, 'open.csv', `"email,date\n${'a@x.io,2026-01-01\n'.repeat(4000)}`)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('A row of the file is too long').waitFor()
})

it('maps columns, says what would be refused, and imports the rest; again it records nothing twice', async () => {
  const rows = Array.from(
    { length: 1200 },
    (_, index) => `p${index % 700}@x.io;2026-01-0${(index % 9) + 1};${index % 5}`,
  )
  const quoted = `"${HOSTILE.replaceAll('"', '""')}"`
  const file = `E-Mail;Date;Amount\n${rows.join('\n')}\n${quoted};2026-01-01;=1\n`
  const page = await open()
  await choose(page, 'orders.csv', file)
  await page.getByRole('button', { name: 'Next' }).click()
  expect(await page.getByLabel('E-Mail').inputValue()).toBe('identity.email')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByText('The events need a name').waitFor()
  await page.getByLabel('Event name').fill('order')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByText('1,201 rows. 1 would be refused.').waitFor()
  await page.getByText('Amount: "=1" is not a plain number such as 1234.50').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the refused row' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('orders-refused.csv')
  const refused = await readFile(await download.path(), 'utf8')
  expect(refused).toMatch(/^\uFEFFerror,E-Mail,Date,Amount\r\n/)
  expect(refused).toContain(`,${quoted},2026-01-01,'=1\r\n`)
  await page.getByRole('button', { name: 'Import 1,200 rows' }).click()
  await page.getByText('The import is complete').waitFor()
  expect(await countEvents('order')).toBe(1200)
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, 'again.csv', file)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('Event name').fill('order')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByRole('button', { name: 'Import 1,200 rows' }).click()
  await page.getByText('The import is complete').waitFor()
  const known = page.locator('dl > div').filter({ hasText: 'Already recorded' })
  expect(await known.innerText()).toContain('1,200')
  expect(await countEvents('order')).toBe(1200)
  expect(await page.locator('img').count()).toBe(0)
})

it('imports the file of refused rows after it was mended', async () => {
  const page = await open()
  await choose(page, 'lessons.csv', 'mail,date\nann@x.io,2026-01-01\nbob,2026-01-02\n')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('Event name').fill('lesson')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByRole('button', { name: 'Import 1 row' }).click()
  await page.getByText('The import is complete').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the refused row' }).click(),
  ])
  const refused = await readFile(await download.path(), 'utf8')
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await choose(page, download.suggestedFilename(), refused.replace(',bob,', ',bob@x.io,'))
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByLabel('Event name').fill('lesson')
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByText('1 row. None would be refused.').waitFor()
  await page.getByRole('button', { name: 'Import 1 row' }).click()
  await page.getByText('The import is complete').waitFor()
  expect(await countEvents('lesson')).toBe(2)
})

it.each([
  [
    'de',
    'Betrag: „1,500“ lässt sich auf zwei Arten lesen. Wählen Sie das Dezimalzeichen, oder schreiben Sie 1234.50',
    'Die Zeile hat 4 Zellen, die Kopfzeile hat 3',
  ],
  [
    'he',
    'סכום: אפשר לקרוא את „1,500” בשתי דרכים. בחרו איזה סימן מפריד את השבר העשרוני, או כתבו 1234.50',
    'בשורה 4 תאים, ובשורת הכותרת 3',
  ],
] as const)('says in the language of the page why rows are refused: %s', async (language, number, cells) => {
  const page = await dashboard.visit(`/dashboard/b/${dashboard.businessId}/imports`, { language })
  const buffer = Buffer.from('email;event;value\nann@x.io;order;1,500\nbob@x.io;order;1;\n')
  await page.locator('input[type=file]').setInputFiles({ name: 'rows.csv', mimeType: 'text/plain', buffer })
  const next = page.locator('main button[type=submit]')
  await next.click()
  await page.locator('input[type=file]').waitFor({ state: 'detached' })
  await next.click()
  await page.locator('li bdi').nth(1).waitFor()
  const said = await page.locator('li bdi').allInnerTexts()
  expect(said.map((text) => text.replaceAll(/[\u2066-\u2069]/g, ''))).toEqual([number, cells])
})

it('says why rows are refused by the names that the columns have on the page', async () => {
  const page = await open()
  await choose(page, 'rows.csv', 'email,event,occurredAt\nnobody,order,2026-01-01\nbob@x.io,order,2999-01-01\n')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Check for Corner Shop' }).click()
  await page.getByText('2 rows. 2 would be refused.').waitFor()
  expect(await page.locator('li bdi').allInnerTexts()).toEqual([
    'Email address: An email address has one @ with something on both sides, and no spaces.',
    'The time is not valid, or it is in the future.',
  ])
})

it('imports NDJSON by keyboard alone', async () => {
  const page = await open()
  await settle(page)
  await choose(page, 'events.ndjson', '{"event":"visit","identity":{"email":"ann@x.io"}}\n')
  // The page has taken the file when it is at rest.
  await settle(page)
  await page.getByRole('button', { name: 'Next' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Each line is an event').waitFor()
  await page.getByLabel('Time zone').focus()
  await page.keyboard.press('Enter')
  await page.getByText('1 row. None would be refused.').waitFor()
  await page.getByRole('button', { name: 'Import 1 row' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('The import is complete').waitFor()
  expect(await countEvents('visit')).toBe(1)
})

it('maps the columns of a CSV file by keyboard alone', async () => {
  const page = await open()
  await settle(page)
  await choose(page, 'walks.csv', 'who,on,how far\nann@x.io,2026-02-01,3\nbob@x.io,2026-02-02,4\n')
  await enter(page, page.getByRole('button', { name: 'Next' }))
  await typeInto(page, page.getByLabel('who'), 'Email')
  await typeInto(page, page.getByLabel('on', { exact: true }), 'Time')
  await typeInto(page, page.getByLabel('how far'), 'Property: num')
  await typeInto(page, page.getByLabel('Event name'), 'walk')
  await enter(page, page.getByRole('button', { name: 'Check for Corner Shop' }))
  await page.getByText('2 rows. None would be refused.').waitFor()
  await enter(page, page.getByRole('button', { name: 'Import 2 rows' }))
  await page.getByText('The import is complete').waitFor()
  expect(await countEvents('walk')).toBe(2)
})

it('refuses a file that is not text, and a CSV file that cannot be read', async () => {
  const page = await open()
  await choose(page, 'latin.csv', Buffer.from([0x6d, 0xfc, 0x2c, 0x0a]))
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('The file is not UTF-8').waitFor()
  await choose(page, 'broken.csv', 'a"b,c\n')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('alert').getByText('text').waitFor()
})

it('is not for marketers', async () => {
  await (await open('marketer@x.io')).getByText('Only owners can import files').waitFor()
})
