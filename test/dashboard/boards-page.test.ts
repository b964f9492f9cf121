// @long
/** Boards in a real Chromium, by mouse and by keyboard alone. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let dashboard: Dashboard
let business: TestBusiness
let marketer: SessionClient
beforeAll(async () => {
  dashboard = await openDashboard({ PUBLIC_URL: 'http://127.0.0.1:1', SYSTEM_SMTP_URL: 'smtp://127.0.0.1:1' })
  const { sql } = dashboard.service
  await addUser(sql, 'owner2@x.io', {})
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  const { sql, url } = dashboard.service
  business = await createBusiness(sql, { name: 'Bookshop', timezone: 'Asia/Kathmandu', currency: 'EUR' })
  for (const role of ['owner', 'marketer', 'read-only'] as const)
    await addUser(sql, `${role}2@x.io`, { businessId: business.businessId, role })
  marketer = await signIn(dashboard.service, 'marketer2@x.io')
  for (const [who, event] of [
    ['ann', 'signup'],
    ['bob', 'signup'],
    ['ann', 'paid'],
  ]) {
    const response = await fetch(`${url}/api/sdk/track`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ event, identity: { email: `${who}@x.io` } }),
    })
    if (!response.ok) throw new Error(await response.text())
  }
  await dashboard.service.shipped()
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function open(path: string, email = 'marketer2@x.io'): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/${path}`, { email })
  await settle(page)
  return page
}

const api = (path = '') => `/b/${business.businessId}/boards${path}`

async function makeBoard(titles: string[], more: object = {}): Promise<string> {
  const { board } = (await marketer.send('POST', api(), { name: 'Mornings' })).data as { board: { id: string } }
  for (const title of titles) {
    const body = { title, kind: 'series', query: {}, days: 7, page: 'analytics?days=7', size: 'half', ...more }
    expect((await marketer.send('POST', api(`/${board.id}/charts`), body)).issues).toEqual([])
  }
  return board.id
}

const titlesOf = (page: Page) => page.locator('main section h2').allInnerTexts()
const menuOf = (page: Page, title: string) => page.getByRole('button', { name: `Chart “${title}”` })

it('a chart is saved where it is seen, and the board shows the same figures', async () => {
  const page = await open('analytics?events=["signup"]&days=7')
  await page.getByRole('button', { name: 'Save to board' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Title').fill('Signups')
  await dialog.getByLabel('Name').fill('Mornings')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Open the board' }).click()
  await page.getByRole('heading', { name: 'Mornings', level: 1 }).waitFor()
  const card = page.getByRole('region', { name: 'Signups' })
  await card.getByText('Last 7 days').waitFor()
  await card.locator('canvas').waitFor()
  await card.getByRole('button', { name: 'As a table' }).click()
  expect(await card.locator('tbody tr').last().locator('td').allInnerTexts()).toEqual(['2'])
  await menuOf(page, 'Signups').click()
  await page.getByRole('menuitem', { name: 'Open the page of this chart' }).click()
  await page.getByRole('button', { name: 'Leave out “signup”' }).waitFor()
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ events: '["signup"]', days: '7' })
})

it.each([
  ['analytics/funnel?steps=["signup","paid"]', 'Funnel', 'signup'],
  ['analytics/retention', 'Retention', 'weeks since'],
  ['analytics/revenue', 'Revenue', 'Nothing in this time range'],
])('%s is saved, too', async (path, title, words) => {
  const page = await open(path)
  await page.getByRole('button', { name: 'Save to board' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill(title)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Open the board' }).click()
  await page.getByRole('region', { name: title }).getByText(words).first().waitFor()
})

it('a saved query of the SQL page is a chart', async () => {
  const query = { name: 'All people', statement: 'select count() as people from contacts', parameters: {} }
  const saved = await marketer.send('POST', `/b/${business.businessId}/sql/queries`, query)
  const { id } = saved.data['query'] as { id: string }
  const page = await open(`sql?query=${id}`)
  await page.getByRole('button', { name: 'Save to board' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Mornings')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Open the board' }).click()
  const card = page.getByRole('region', { name: 'All people' })
  await card.getByText('2', { exact: true }).waitFor()
  await marketer.send('DELETE', `/b/${business.businessId}/sql/queries/${id}`)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.reload()
  await page.getByText('The saved query of this chart was deleted.').waitFor()
})

it('charts are moved, resized, renamed and removed', async () => {
  const id = await makeBoard(['One', 'Two', 'Three'])
  const page = await open(`boards/${id}`)
  const choose = async (title: string, item: string) => {
    await menuOf(page, title).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Three', 'Move earlier')
  await expect.poll(() => titlesOf(page), { timeout: PATIENCE_MS }).toEqual(['One', 'Three', 'Two'])
  await choose('One', 'Full width')
  await choose('Two', 'Rename')
  await page.getByRole('dialog').getByLabel('Title').fill('Zwei')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Zwei' }).waitFor()
  await choose('Three', 'Remove from the board')
  await expect.poll(() => titlesOf(page), { timeout: PATIENCE_MS }).toEqual(['One', 'Zwei'])
  await page.reload()
  await settle(page)
  expect(await titlesOf(page)).toEqual(['One', 'Zwei'])
  const width = async (title: string) => (await page.getByRole('region', { name: title }).boundingBox())?.width ?? 0
  expect(await width('One')).toBeGreaterThan(1.9 * (await width('Zwei')))
})

it('by keyboard alone: a board is created, a chart moved, the board renamed and deleted', async () => {
  const page = await open('boards')
  await page.keyboard.press('n')
  await page.getByRole('dialog').getByLabel('Name').waitFor()
  await page.keyboard.type('By hand')
  await page.keyboard.press('Enter')
  await page.getByText('No charts yet').waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  for (const title of ['One', 'Two']) {
    const body = { title, kind: 'engagement', query: {}, page: 'analytics', size: 'half' }
    expect((await marketer.send('POST', api(`/${id}/charts`), body)).status).toBe(200)
  }
  await page.reload()
  await settle(page)
  await menuOf(page, 'One').focus()
  await page.keyboard.press('Alt+ArrowRight')
  await expect.poll(() => titlesOf(page), { timeout: PATIENCE_MS }).toEqual(['Two', 'One'])
  await page.getByRole('status').filter({ hasText: '“One” is now number 2.' }).waitFor({ state: 'attached' })
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Chart “One”')
  await page.keyboard.press('Alt+ArrowUp')
  await expect.poll(() => titlesOf(page), { timeout: PATIENCE_MS }).toEqual(['One', 'Two'])
  await page.getByRole('button', { name: 'More' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('[role=menuitem]:focus').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByLabel('Name').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Renamed')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Renamed', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'More' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('[role=menuitem]:focus').waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the board' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('No boards yet').waitFor()
})

it('who edits what another person has changed sees their change first', async () => {
  const id = await makeBoard(['One', 'Two'])
  const page = await open(`boards/${id}`)
  const seen = (await marketer.send('GET', api(`/${id}`))).data['board'] as { version: number; charts: object[] }
  const charts = (seen.charts as { id: string; title: string; size: string }[]).map((chart) => ({
    id: chart.id,
    title: `${chart.title}!`,
    size: chart.size,
  }))
  await marketer.send('PUT', api(`/${id}`), { version: seen.version, name: 'Mornings', charts })
  await menuOf(page, 'Two').click()
  await page.getByRole('menuitem', { name: 'Move earlier' }).click()
  await page.getByText('Someone else has changed this board').waitFor()
  await expect.poll(() => titlesOf(page), { timeout: PATIENCE_MS }).toEqual(['One!', 'Two!'])
})

it('reads two charts at a time, anew by the button, and says which one failed', async () => {
  const titles = ['One', 'Two', 'Three', 'Four', 'Five']
  const id = await makeBoard(titles)
  // Each has its own time range, so that no chart gets the answer for another one.
  const { sql } = dashboard.service
  const [row] = await sql<{ charts: { days: number }[] }[]>`select charts from boards where id = ${id}`
  const charts = JSON.stringify(row?.charts.map((chart, at) => ({ ...chart, days: 7 + at })))
  await sql`update boards set charts = ${charts}::text::jsonb where id = ${id}`
  const page = await dashboard.visit('/dashboard/account', { email: 'marketer2@x.io' })
  let running = 0
  let most = 0
  let asked = 0
  await page.route('**/analytics/series*', async (route) => {
    running += 1
    asked += 1
    const isFirst = asked === 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 50))
    running -= 1
    const json = {
      success: false,
      message: 'Too slow.',
      error: { code: 'unavailable', reason: { code: 'too_much_to_read' } },
    }
    await (isFirst ? route.fulfill({ status: 503, json }) : route.continue())
  })
  await page.goto(`${dashboard.service.url}/dashboard/b/${business.businessId}/boards/${id}`)
  await page.getByRole('alert').getByText('This took too long').waitFor()
  await settle(page)
  expect([asked, most]).toEqual([5, 2])
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await settle(page)
  expect([asked, most]).toEqual([10, 2])
})

it('the order of boards is changed in the list', async () => {
  for (const name of ['One', 'Two', 'Three']) await marketer.send('POST', api(), { name })
  const page = await open('boards')
  const names = async () => (await page.getByRole('row').allInnerTexts()).slice(1).map((text) => text.split('\n')[0])
  // The list changes before the answer.
  const answered = page.waitForResponse((response) => response.request().method() !== 'GET')
  await page.getByRole('button', { name: 'Move “Three” up' }).click()
  await expect.poll(names, { timeout: PATIENCE_MS }).toEqual(['One', 'Three', 'Two'])
  expect((await answered).status()).toBe(200)
  await page.reload()
  await settle(page)
  expect(await names()).toEqual(['One', 'Three', 'Two'])
})

it('the mail is turned on for some people, and its link opens the settings', async () => {
  const id = await makeBoard(['One'])
  const page = await open(`boards/${id}`)
  await page.getByRole('button', { name: 'Weekly mail' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Asia/Kathmandu').waitFor()
  await dialog.getByLabel('Send this board every Monday at 08:00').check()
  await dialog.getByLabel('read-only2@x.io').check()
  await dialog.getByLabel('marketer2@x.io').uncheck()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { mail } = (await marketer.send('GET', api(`/${id}`))).data['board'] as { mail: object }
  const [user] = await dashboard.service.sql<{ id: string }[]>`select id from users where email = 'read-only2@x.io'`
  expect(mail).toEqual({ isOn: true, recipients: [user?.id] })
  const linked = await open(`boards/${id}?mail=true`)
  await linked.getByRole('dialog').getByLabel('read-only2@x.io').uncheck()
  await linked.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await linked.getByText('Choose at least one person.').waitFor()
  await linked.keyboard.press('Escape')
  await linked.getByRole('dialog').waitFor({ state: 'detached' })
  expect(new URL(linked.url()).search).toBe('')
})

it('who only reads sees the charts that are for all, and no buttons that change them', async () => {
  const id = await makeBoard(['For all'])
  const hidden = { title: 'Plans', kind: 'series', query: { breakdown: 'field:plan' }, days: 7 }
  await marketer.send('POST', api(`/${id}/charts`), { ...hidden, page: 'analytics', size: 'half' })
  const page = await open(`boards/${id}`, 'read-only2@x.io')
  await page.getByRole('region', { name: 'For all' }).locator('canvas').waitFor()
  await page.getByRole('region', { name: 'Plans' }).getByText('Your role cannot see this chart').waitFor()
  expect(await page.getByRole('button', { name: 'Weekly mail' }).count()).toBe(0)
  await menuOf(page, 'For all').click()
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Open the page of this chart'])
  expect(await menuOf(page, 'Plans').count()).toBe(0)
  const analytics = await open('analytics', 'read-only2@x.io')
  expect(await analytics.getByRole('button', { name: 'Save to board' }).count()).toBe(0)
})

it('who only reads turns the mail off for themselves', async () => {
  const id = await makeBoard(['One'])
  const people = await dashboard.service.sql<{ id: string }[]>`
    select id from users where email in ('read-only2@x.io', 'marketer2@x.io') order by email`
  const [other = '', reader = ''] = people.map((one) => one.id)
  await marketer.send('PUT', api(`/${id}/mail`), { isOn: true, recipients: [other, reader] })
  const page = await open(`boards/${id}?mail=true`, 'read-only2@x.io')
  await page.getByRole('dialog').getByRole('button', { name: 'Stop sending me this mail' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const { mail } = (await marketer.send('GET', api(`/${id}`))).data['board'] as { mail: object }
  expect(mail).toEqual({ isOn: true, recipients: [other] })
  expect(await page.getByRole('button', { name: 'Weekly mail' }).count()).toBe(0)
  const again = await open(`boards/${id}?mail=true`, 'read-only2@x.io')
  await again.getByRole('dialog').getByText('You do not get this board by mail.').waitFor()
})

it('there is no page of a board that is gone', async () => {
  const page = await open(`boards/${await makeBoard([])}x`)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
})
