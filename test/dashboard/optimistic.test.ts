// @pages
/** Changes that a page shows before the server has answered, in a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page, Route } from 'playwright-core'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let dashboard: Dashboard
let business: TestBusiness
let owner: SessionClient
beforeAll(async () => {
  dashboard = await openDashboard()
  await addUser(dashboard.service.sql, 'keeper@x.io', {})
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  business = await createBusiness(dashboard.service.sql)
  const { businessId } = business
  await addUser(dashboard.service.sql, 'owner2@x.io', { businessId, role: 'owner' })
  await addUser(dashboard.service.sql, 'keeper@x.io', { businessId, role: 'marketer' })
  owner = await signIn(dashboard.service, 'owner2@x.io')
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function call(path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${dashboard.service.url}/api/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  return ((await response.json()) as { data: Record<string, unknown> }).data
}

const api = (path: string) => `/b/${business.businessId}/${path}`

async function open(path: string): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/${path}`, { email: 'keeper@x.io' })
  await settle(page)
  return page
}

/** From now on the person may only read, so the server itself refuses the changes. */
const demote = () =>
  addUser(dashboard.service.sql, 'keeper@x.io', { businessId: business.businessId, role: 'read-only' })

interface Held {
  /** Number of requests that wait. */
  count: () => number
  /** Lets the oldest one continue, or all from now on. */
  release: (which?: 'one' | 'all') => void
}

/** `answers`: the server has answered, but the page does not get it. `requests`: the server does not get them. */
async function hold(page: Page, method: string, path: RegExp, what: 'requests' | 'answers' = 'answers'): Promise<Held> {
  const waiting: (() => void)[] = []
  let isOpen = false
  const wait = () => (isOpen ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)))
  await page.route(path, async (route: Route) => {
    if (route.request().method() !== method) return route.fallback()
    if (what === 'requests') return wait().then(() => route.continue())
    const response = await route.fetch()
    await wait()
    // The page may have cancelled a read meanwhile.
    await route.fulfill({ response }).catch(() => undefined)
  })
  return {
    count: () => waiting.length,
    release(which = 'all') {
      isOpen = which === 'all'
      for (const go of waiting.splice(0, which === 'all' ? Infinity : 1)) go()
    },
  }
}

const waitFor = (held: Held, count: number) => expect.poll(held.count, { timeout: PATIENCE_MS }).toBe(count)

interface Place {
  name: string
  /** Opens the page on which the change is made. */
  open: () => Promise<Page>
  change: (page: Page) => Promise<void>
  request: [method: string, path: RegExp]
  /** Returns what the page shows of it. */
  shown: (page: Page) => Promise<unknown>
  before: unknown
  after: unknown
}

const titlesOf = (page: Page) => page.locator('main section h2').allInnerTexts()
const choose = async (page: Page, title: string, item: string) => {
  await page.getByRole('button', { name: `Chart “${title}”` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

async function makeBoard(titles: string[]): Promise<string> {
  const { board } = (await owner.send('POST', api('boards'), { name: 'Mornings' })).data as { board: { id: string } }
  for (const title of titles) {
    const body = { title, kind: 'engagement', query: {}, page: 'analytics', size: 'half' }
    expect((await owner.send('POST', api(`boards/${board.id}/charts`), body)).issues).toEqual([])
  }
  return board.id
}

const namesOf = (page: Page) => page.getByRole('row').locator('a').allInnerTexts()

async function openBoards(): Promise<Page> {
  for (const name of ['One', 'Two', 'Three']) await owner.send('POST', api('boards'), { name })
  return open('boards')
}

async function openField(): Promise<Page> {
  await call('sdk/identify', { identity: { platformCustomerId: 'c1' }, traits: { seats: 3 } })
  return open('custom-fields?field=seats')
}

const hide = (page: Page) => page.getByRole('dialog').getByLabel('Hide')

async function openCampaign(): Promise<Page> {
  const steps = [{ type: 'wait', for: 'P1D' }]
  const { campaign } = (await call('campaigns', { name: 'Win back', trigger: { event: 'signup' }, steps })) as {
    campaign: { campaignId: string }
  }
  await call(`campaigns/${campaign.campaignId}/publish`, {})
  return open(`campaigns/${campaign.campaignId}`)
}

const campaignButton = (page: Page) =>
  page
    .locator('main')
    .getByRole('button', { name: /^(Pause|Resume)$/ })
    .innerText()

const consent = (page: Page) => page.getByRole('region', { name: 'Consent' })

async function openContact(): Promise<Page> {
  const { contactId } = await call('sdk/identify', { identity: { email: 'ann@x.io' } })
  return open(`contacts/${contactId as string}`)
}

const PLACES: Place[] = [
  {
    name: 'a choice of a contact',
    open: openContact,
    change: (page) => consent(page).getByLabel('SMS').click(),
    request: ['PUT', /\/subscriptions$/],
    shown: (page) => consent(page).getByLabel('SMS').isChecked(),
    before: false,
    after: true,
  },
  {
    name: 'a custom field that is hidden',
    open: openField,
    change: (page) => hide(page).click(),
    request: ['PATCH', /\/custom-fields$/],
    shown: async (page) => [
      await hide(page).isChecked(),
      await page.locator('[role=row]', { hasText: 'seats' }).count(),
    ],
    before: [false, 1],
    after: [true, 0],
  },
  {
    name: 'a campaign that is paused',
    open: openCampaign,
    change: (page) => page.getByRole('button', { name: 'Pause' }).click(),
    request: ['POST', /\/pause$/],
    shown: campaignButton,
    before: 'Pause',
    after: 'Resume',
  },
  {
    name: 'a board that is moved in the list',
    open: openBoards,
    change: (page) => page.getByRole('button', { name: 'Move “Three” up' }).click(),
    request: ['PUT', /\/boards$/],
    shown: namesOf,
    before: ['One', 'Two', 'Three'],
    after: ['One', 'Three', 'Two'],
  },
  {
    name: 'a chart that is removed from its board',
    open: async () => open(`boards/${await makeBoard(['One', 'Two'])}`),
    change: (page) => choose(page, 'One', 'Remove from the board'),
    request: ['PUT', /\/boards\/[\w-]+$/],
    shown: titlesOf,
    before: ['One', 'Two'],
    after: ['Two'],
  },
]

describe.each(PLACES)('$name', ({ open: openPlace, change, request, shown, before, after }) => {
  it('is shown while the answer is not there, and stays', async () => {
    const page = await openPlace()
    expect(await shown(page)).toEqual(before)
    const held = await hold(page, ...request)
    await change(page)
    await waitFor(held, 1)
    expect(await shown(page)).toEqual(after)
    held.release()
    await settle(page)
    expect(await shown(page)).toEqual(after)
    await page.reload()
    await settle(page)
    expect(await shown(page)).toEqual(after)
  })

  it('is put back when the server refuses it, and the page says why', async () => {
    const page = await openPlace()
    const held = await hold(page, ...request, 'requests')
    await change(page)
    await waitFor(held, 1)
    expect(await shown(page)).toEqual(after)
    await demote()
    held.release()
    await page.getByText('Your role does not allow this.').waitFor()
    await expect.poll(() => shown(page), { timeout: PATIENCE_MS }).toEqual(before)
  })
})

it('says at the choice itself why it was refused', async () => {
  const page = await openContact()
  const held = await hold(page, 'PUT', /\/subscriptions$/, 'requests')
  await consent(page).getByLabel('SMS').click()
  await waitFor(held, 1)
  await demote()
  held.release()
  await page.locator('[aria-invalid=true]').waitFor()
  expect(await consent(page).getByLabel('SMS').getAttribute('aria-invalid')).toBe('true')
  expect(await consent(page).getByLabel('Email').getAttribute('aria-invalid')).toBeNull()
})

it('says at each choice why it was refused, of two that were made at once', async () => {
  const page = await openContact()
  const held = await hold(page, 'PUT', /\/subscriptions$/, 'requests')
  await consent(page).getByLabel('SMS').click()
  await consent(page).getByLabel('Push').click()
  await waitFor(held, 1)
  await demote()
  held.release()
  await expect.poll(() => page.locator('[aria-invalid=true]').count(), { timeout: PATIENCE_MS }).toBe(2)
  for (const label of ['SMS', 'Push'])
    expect(await consent(page).getByLabel(label).getAttribute('aria-invalid')).toBe('true')
  expect(await consent(page).getByLabel('Email').getAttribute('aria-invalid')).toBeNull()
})

it('two moves in a row are both shown, sent one after the other, and end as the server has them', async () => {
  const id = await makeBoard(['One', 'Two', 'Three'])
  const page = await open(`boards/${id}`)
  const held = await hold(page, 'PUT', /\/boards\/[\w-]+$/)
  await choose(page, 'Three', 'Move earlier')
  await choose(page, 'Three', 'Move earlier')
  await waitFor(held, 1)
  expect(await titlesOf(page)).toEqual(['Three', 'One', 'Two'])
  held.release('one')
  await waitFor(held, 1)
  expect(await titlesOf(page)).toEqual(['Three', 'One', 'Two'])
  held.release()
  await settle(page)
  const { board } = (await owner.send('GET', api(`boards/${id}`))).data as { board: { charts: { title: string }[] } }
  expect(board.charts.map(({ title }) => title)).toEqual(['Three', 'One', 'Two'])
  expect(await titlesOf(page)).toEqual(['Three', 'One', 'Two'])
})

it('a refused change does not take the one after it with it', async () => {
  const id = await makeBoard(['One', 'Two', 'Three'])
  const page = await open(`boards/${id}`)
  const held = await hold(page, 'PUT', /\/boards\/[\w-]+$/, 'requests')
  await choose(page, 'Three', 'Move earlier')
  await choose(page, 'One', 'Remove from the board')
  await waitFor(held, 1)
  expect(await titlesOf(page)).toEqual(['Three', 'Two'])
  // Another person changes it meanwhile.
  const { board } = (await owner.send('GET', api(`boards/${id}`))).data as {
    board: { version: number; charts: { id: string; title: string; size: string }[] }
  }
  const charts = board.charts.map(({ id: chart, title, size }) => ({ id: chart, title: `${title}!`, size }))
  await owner.send('PUT', api(`boards/${id}`), { version: board.version, name: 'Mornings', charts })
  held.release('one')
  await page.getByText('Someone else has changed this board').waitFor()
  await waitFor(held, 1)
  await expect.poll(() => titlesOf(page), { timeout: PATIENCE_MS }).toEqual(['Two!', 'Three!'])
  held.release()
  await settle(page)
  const stored = async () => {
    const { board: now } = (await owner.send('GET', api(`boards/${id}`))).data as {
      board: { charts: { title: string }[] }
    }
    return now.charts.map(({ title }) => title)
  }
  await expect.poll(stored, { timeout: PATIENCE_MS }).toEqual(['Two!', 'Three!'])
  expect(await titlesOf(page)).toEqual(['Two!', 'Three!'])
})

it('a reading that is under way does not bring back what was there', async () => {
  const page = await openField()
  const readings = await hold(page, 'GET', /\/custom-fields$/)
  await hide(page).click()
  // The read after the first change, whose answer arrives during the second change.
  await waitFor(readings, 1)
  const held = await hold(page, 'PATCH', /\/custom-fields$/)
  await page.evaluate(`window.seen = []; (function look() {
    window.seen.push(document.querySelector('dialog [name=isHidden]').checked)
    requestAnimationFrame(look)
  })()`)
  await hide(page).click()
  await waitFor(held, 1)
  const arrived = page.waitForResponse((response) => response.url().endsWith('/custom-fields'))
  readings.release()
  await arrived
  held.release()
  await page.waitForResponse((response) => response.url().endsWith('/custom-fields'))
  await settle(page)
  expect(await hide(page).isChecked()).toBe(false)
  const seen = await page.evaluate<boolean[]>('window.seen')
  expect(seen[0]).toBe(true)
  expect(seen.slice(seen.indexOf(false))).not.toContain(true)
  await page.reload()
  await settle(page)
  expect(await hide(page).isChecked()).toBe(false)
})
