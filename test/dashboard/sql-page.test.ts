// @pages
/** The SQL page in a real Chromium, by mouse and by keyboard alone. */
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { insertKey } from '../../src/businesses/keys.ts'
import examples from '../../src/dashboard/src/features/data/sql/examples.json' with { type: 'json' }
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
  const { key } = await insertKey(dashboard.service.sql, dashboard.businessId, 'secret')
  const people = ['Ann', 'Bob', HOSTILE]
  for (const [index, name] of people.entries()) {
    const identity = { platformCustomerId: `c${index}` }
    await send(key, 'identify', { identity, profile: { firstName: name } })
    await send(key, 'track', {
      event: index === 0 ? 'purchase' : 'signup',
      identity,
      occurredAt: `2026-01-0${index + 1}T10:00:00Z`,
      ...(index === 0 && { value: 10, currency: 'EUR' }),
    })
  }
  await dashboard.service.shipped()
})
afterAll(() => dashboard.close())

async function send(key: string, path: string, body: object): Promise<void> {
  const response = await fetch(`${dashboard.service.url}/api/sdk/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
}
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const open = (search = '', email = 'analyst@x.io') =>
  dashboard.visit(`/dashboard/b/${dashboard.businessId}/sql${search}`, { email })
const editor = (page: Page) => page.getByRole('textbox', { name: 'SQL statement' })
const cells = async (page: Page): Promise<string[][]> => {
  const rows = page.getByRole('grid', { name: 'Result' }).getByRole('row')
  const all = await rows.evaluateAll((found) =>
    (found as { children: Iterable<{ textContent: string }> }[]).map((row) =>
      Array.from(row.children, ({ textContent }) => textContent),
    ),
  )
  return all
}

async function run(page: Page, statement: string): Promise<void> {
  await editor(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(statement)
  await page.getByRole('button', { name: 'Run' }).click()
}

it('runs a statement by keyboard alone, and shows hostile values as text', async () => {
  const page = await open()
  await settle(page)
  await editor(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('select first_name as name, null as nothing from contacts order by name')
  await page.keyboard.press('Control+Enter')
  await page.getByText('3 rows').waitFor()
  expect(await cells(page)).toEqual([
    ['name', 'nothing'],
    [HOSTILE, 'NULL'],
    ['Ann', 'NULL'],
    ['Bob', 'NULL'],
  ])
  expect(await page.locator('img').count()).toBe(0)
  // Typed letters are not shortcuts, and Tab leaves the editor.
  expect(new URL(page.url()).pathname).toContain('/sql')
  await editor(page).focus()
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Run')
})

it('completes the names of views', async () => {
  const page = await open()
  await settle(page)
  await editor(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('select * from contact_ev')
  await page.getByRole('option', { name: 'contact_event_statistics' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Escape')
})

it('every example of the documentation runs, one click away', async () => {
  const page = await open()
  await settle(page)
  await page.getByText('Examples', { exact: true }).click()
  for (const { title, statement } of examples) {
    await page.getByRole('button', { name: title, exact: true }).click()
    expect((await editor(page).innerText()).replaceAll(/\n+/g, '\n')).toBe(statement.replaceAll(/\n+/g, '\n'))
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('status').filter({ hasText: /row/ }).or(page.getByRole('alert')).first().waitFor()
    await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
    expect([title, await page.getByRole('alert').allInnerTexts()]).toEqual([title, []])
  }
})

it('asks for parameters, saves the query with them, and opens it by its address for others', async () => {
  const page = await open()
  await run(page, 'select first_name from contacts where first_name = {name: String} or {n: UInt8} = 9')
  await page.getByText('Substitution `n` is not set').waitFor()
  await page.getByLabel('name (String)').fill('Ann')
  await page.getByLabel('n (UInt8)').fill('1')
  await page.keyboard.press('Enter')
  await page.getByText('1 row ·').waitFor()
  await page.getByRole('button', { name: 'Save…' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('By name')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'By name', exact: true }).waitFor()
  await page.waitForURL(/query=/)

  const other = await open(new URL(page.url()).search, 'marketer@x.io')
  expect(await other.getByLabel('name (String)').inputValue()).toBe('Ann')
  await run(other, 'select 1 as changed')
  await other.getByText('1 row ·').waitFor()
  await other.reload()
  await other.getByText('select 1 as changed').waitFor()
  await other.getByRole('button', { name: 'Save…' }).click()
  await other.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await other.getByRole('dialog').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: 'By name', exact: true }).click()
  await page.getByText('select 1 as changed').waitFor()
  await page.getByRole('button', { name: 'Delete “By name”' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the query' }).click()
  await page.getByText('None yet.').waitFor()
})

it('draws numbers over time, and gives a CSV file that no spreadsheet runs', async () => {
  const page = await open()
  await run(
    page,
    "select toDate(occurred_at) as day, count() as events, '=1+1' as formula, -5 as number from timeline group by day order by day",
  )
  await page.getByText('3 rows').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/^query-\d{4}-\d\d-\d\d\.csv$/)
  expect(await readFile(await download.path(), 'utf8')).toBe(
    "\uFEFFday,events,formula,number\r\n2026-01-01,1,'=1+1,-5\r\n2026-01-02,1,'=1+1,-5\r\n2026-01-03,1,'=1+1,-5\r\n",
  )
  await page.getByRole('button', { name: 'Chart' }).click()
  await page.locator('canvas').waitFor()
  await page.getByRole('button', { name: 'As a table' }).click()
  await page.getByRole('cell', { name: '1' }).first().waitFor()
})

it('says what ClickHouse says, and which limit was reached', async () => {
  const page = await open()
  await run(page, 'select * form contacts')
  await page.getByRole('alert').getByText('Syntax error: failed at position').waitFor()
  await run(page, 'select length(groupArray(toString(number))) from numbers(1000000000)')
  await page.getByText('The statement needed too much memory.').waitFor()
  await run(page, 'select number from numbers(10001)')
  await page.getByText('Not all rows are shown').waitFor()
})

it('cancels, and starts another one', async () => {
  const page = await open()
  await run(page, 'select count() from numbers(100000000000) where sipHash64(number) = 1')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
  expect(await page.getByRole('alert').count()).toBe(0)
  await run(page, 'select 1')
  await page.getByText('1 row ·').waitFor()
})

it('is not there for those who see lists alone', async () => {
  const page = await open('', 'read-only@x.io')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  expect(await page.getByRole('link', { name: 'SQL' }).count()).toBe(0)
})
