// @pages
/** The segment pages in a real Chromium: the main tasks by mouse and by keyboard alone, and the rest. */
import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Rule } from '../../src/rules/segments/rule.ts'
import { insertSegment } from '../segments/segments-support.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'
import { tabTo } from './tab-to.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'
const FORMULA = '=HYPERLINK("http://x.io")'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  for (const role of ['owner', 'marketer', 'read-only'] as const) {
    await addUser(dashboard.service.sql, `${role}2@x.io`, { businessId: business.businessId, role })
  }
  await person(
    'ann@x.io',
    { name: 'Ann Archer', country: 'DE' },
    { tags: ['vip'], value: 20, traits: { plan: 'pro', seats: 3 } },
  )
  await person('bob@x.io', { name: 'Bob Baker', country: 'AT' }, { value: 5, traits: { plan: 'free', seats: 8 } })
  await person(
    'eve@x.io',
    { name: HOSTILE, country: 'FR' },
    { event: HOSTILE, tags: [HOSTILE], traits: { [HOSTILE]: HOSTILE } },
  )
  await person('joe@x.io', { name: FORMULA, country: 'DE' }, { tags: ['vip'] })
  await dashboard.service.shipped()
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  const { sql } = dashboard.service
  await sql`delete from segment_rules where business_id = ${business.businessId}`
  await sql`delete from segments where business_id = ${business.businessId}`
  await sql`update businesses set config_version = config_version + 1 where id = ${business.businessId}`
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function send<Data>(method: string, path: string, json?: object): Promise<Data> {
  const response = await fetch(dashboard.service.url + path, {
    method,
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    ...(json && { body: JSON.stringify(json) }),
  })
  const body = (await response.json()) as { data: Data }
  expect([path, response.status, body]).toMatchObject([path, 200, {}])
  return body.data
}

async function person(email: string, profile: object, event: object): Promise<void> {
  await send('POST', '/api/sdk/identify', { identity: { email }, profile })
  await send('POST', '/api/sdk/track', { event: 'purchase', currency: 'EUR', identity: { email }, ...event })
}

interface Segment {
  segmentId: string
  status: string
  name: string
  rule: Rule
}

const VIP: Rule = { tag: 'vip', operator: 'has' }
const FROM_DE: Rule = { attribute: 'country', operator: 'equals', value: 'DE' }

/** Waits for its members. */
async function create(name: string, rule: object): Promise<string> {
  const { segment } = await send<{ segment: Segment }>('POST', '/api/segments', { name, rule })
  await expect.poll(() => read(segment.segmentId), { timeout: PATIENCE_MS }).toMatchObject({ status: 'ready' })
  return segment.segmentId
}

const read = async (id: string) => (await send<{ segment: Segment }>('GET', `/api/segments/${id}`)).segment
const list = async () => (await send<{ segments: Segment[] }>('GET', '/api/segments')).segments
const only = async () => read((await list())[0]?.segmentId ?? '')

const open = async (path = '', email = 'marketer2@x.io'): Promise<Page> => {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/segments${path}`, { email })
  await settle(page)
  return page
}

/** Chooses in the open list what a condition reads. */
async function choose(page: Page, typed: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Choose what the condition reads' }).fill(typed)
  await page.getByRole('option', { name: option, exact: true }).first().click()
}

const rule = (page: Page) => page.getByRole('region', { name: 'Rule' })
const counted = (page: Page) => page.getByRole('region', { name: 'Matching contacts' })
/** Finds a condition or group by its words. */
const node = (page: Page, words: string | RegExp) => rule(page).getByRole('group', { name: words })

describe('the list', () => {
  it('says in a sentence what a segment is, and offers to create one to those who may', async () => {
    const page = await open()
    await page.getByText('A segment holds the contacts that match a rule').waitFor()
    expect(await page.getByRole('link', { name: 'New segment' }).count()).toBe(1)
    const reader = await open('', 'read-only2@x.io')
    await reader.getByText('No segments yet').waitFor()
    expect(await reader.getByRole('link', { name: 'New segment' }).count()).toBe(0)
  })

  it('shows size, trend, progress and warnings; a hostile name is text', async () => {
    await create(HOSTILE, VIP)
    const seats = await create('Many seats', { customField: 'later', operator: 'greater_than', value: 2 })
    await send('POST', '/api/sdk/identify', { identity: { email: 'bob@x.io' }, traits: { later: 'many' } })
    await insertSegment(dashboard.service.sql, business.businessId, FROM_DE, 'building')
    const page = await open()
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    expect(await row(HOSTILE).innerText()).toMatch(/2\s[\s\S]*Ready/)
    await row(HOSTILE).getByRole('img', { name: 'From 0 to 2 members in 30 days' }).waitFor()
    expect(await row('Many seats').innerText()).toContain('1 warning')
    const path = `/dashboard/b/${business.businessId}/segments/${seats}`
    const german = await dashboard.visit(path, { email: 'marketer2@x.io', language: 'de' })
    await german.getByText('Das eigene Feld „later“ hat jetzt einen anderen Typ').waitFor()
    expect(await row('A segment').innerText()).toContain('Computing, 0%')
    expect(await page.locator('img').count()).toBe(0)
    await row(HOSTILE).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
  })
})

describe('the builder', () => {
  it('shows a list of conditions that fits into the window, and scrolls to the last one', async () => {
    const page = await open()
    await page.getByRole('link', { name: 'New segment' }).click()
    await page.setViewportSize({ width: 1280, height: 500 })
    await rule(page).getByRole('button', { name: 'Add condition' }).click()
    const list = page.getByRole('listbox')
    const last = list.getByRole('option').last()
    await last.scrollIntoViewIfNeeded()
    const [frame, option] = [await list.boundingBox(), await last.boundingBox()]
    expect(frame!.y + frame!.height).toBeLessThanOrEqual(500)
    expect(option!.y + option!.height).toBeLessThanOrEqual(frame!.y + frame!.height)
    expect(option!.y).toBeGreaterThanOrEqual(frame!.y)
  })

  it('makes a segment by mouse, and counts while one types', async () => {
    const page = await open()
    await page.getByRole('link', { name: 'New segment' }).click()
    await page.getByLabel('Name').fill('Neighbours')
    await rule(page).getByRole('button', { name: 'Add condition' }).click()
    await choose(page, 'count', 'Country')
    await counted(page).getByText('The number appears once all conditions are complete.').waitFor()
    await rule(page).getByLabel('Comparison').selectOption({ label: 'is one of' })
    await rule(page).getByLabel('Value').fill('DE\nAT')
    await counted(page).getByText('3 contacts match').waitFor()
    await page.getByRole('region', { name: 'Newest matches' }).getByRole('link', { name: 'Bob Baker' }).waitFor()
    await page.getByText('Contacts where: Country is one of DE, AT').waitFor()
    await rule(page).getByRole('button', { name: 'Add group' }).click()
    await node(page, 'At least one of these is true').getByRole('button', { name: 'Add condition' }).click()
    await choose(page, 'vip', 'vip')
    await counted(page).getByText('2 contacts match').waitFor()
    await node(page, 'At least one of these is true').getByRole('button', { name: 'Add condition' }).click()
    await choose(page, 'purch', 'purchase')
    await node(page, /the number of .purchase/)
      .getByLabel('Value')
      .fill('1')
    await counted(page).getByText('3 contacts match').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Segment saved.').waitFor()
    await page.getByRole('heading', { level: 1, name: 'Neighbours' }).waitFor()
    expect((await only()).rule).toEqual({
      all: [
        { attribute: 'country', operator: 'in', value: ['DE', 'AT'] },
        { any: [VIP, { event: 'purchase', metric: 'count', operator: 'greater_than_or_equal', value: 1 }] },
      ],
    })
    await expect.poll(() => page.getByRole('grid').getByRole('row').count(), { timeout: PATIENCE_MS }).toBe(4)
  })

  it('suggests countries by name, because contacts have codes', async () => {
    const page = await open('/new')
    await rule(page).getByRole('button', { name: 'Add condition' }).click()
    await choose(page, 'count', 'Country')
    await rule(page).getByText('Codes of two letters, such as DE.').waitFor()
    const options = page.locator('datalist option')
    await options.and(page.locator('[value=DE][label=Germany]')).waitFor({ state: 'attached' })
    // Neither groups of countries nor former codes.
    for (const code of ['EU', 'DD', 'SU', 'ZZ']) expect(await page.locator(`datalist [value=${code}]`).count()).toBe(0)
    await rule(page).getByLabel('Comparison').selectOption({ label: 'is one of' })
    await rule(page).getByText('One value per line. Codes of two letters, such as DE.').waitFor()
  })

  it('makes a segment by keyboard alone', async () => {
    const page = await open()
    await page.keyboard.press('n')
    await page.getByRole('heading', { level: 1, name: 'New segment' }).waitFor()
    await tabTo(page, page.locator('[name=name]'))
    await page.keyboard.type('Important')
    await tabTo(page, page.locator('[data-focus$=":add"]'))
    await page.keyboard.press('Enter')
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('vip')
    await page.getByRole('option', { name: 'vip' }).first().waitFor()
    await page.keyboard.press('Enter')
    // The focus is at the new condition.
    await page.locator('select[name=operator]:focus').waitFor()
    await tabTo(page, page.locator('[data-focus$=":add"]'))
    await page.keyboard.press('Enter')
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('country')
    await page.getByRole('option', { name: 'Country' }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.locator('select[name=operator]:focus').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('DE')
    // Moves it up, before the other one.
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.locator('[data-focus$=":handle"]:focus').waitFor()
    await page.keyboard.press('ArrowUp')
    await page.getByText('Moved to place 1 of 2.').waitFor()
    await page.getByText('Country is DE and has the tag vip').waitFor()
    // Removes it again, by its menu.
    await page.keyboard.press('ArrowDown')
    await page.getByText('has the tag vip and Country is DE').waitFor()
    await tabTo(page, page.locator('[aria-haspopup=menu]'))
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.getByText('Contacts where: has the tag vip', { exact: true }).waitFor()
    await page.locator('[data-focus$=":handle"]:focus').waitFor()
    await counted(page).getByText('2 contacts match').waitFor()
    await page.locator('h1').focus()
    await tabTo(page, page.locator('button[type=submit]'))
    await page.keyboard.press('Enter')
    await page.getByText('Segment saved.').waitFor()
    expect(await only()).toMatchObject({ name: 'Important', rule: { all: [VIP] } })
  })

  it('moves by dragging, negates, groups, dissolves and duplicates', async () => {
    const page = await open('/new')
    await page.getByRole('link', { name: 'JSON' }).click()
    await page.getByLabel('The rule as JSON').fill(JSON.stringify({ all: [VIP, FROM_DE, { any: [VIP] }] }))
    await page.getByRole('link', { name: 'Builder' }).click()
    const handle = (words: string | RegExp) =>
      node(page, words)
        .getByRole('button', { name: /^Move:/ })
        .first()
    await handle(/^Country is/).dragTo(
      node(page, 'At least one of these is true').getByRole('button', { name: 'Add condition' }),
    )
    await page.getByText('has the tag vip and (has the tag vip or Country is DE)').waitFor()
    const act = async (words: string | RegExp, action: string) => {
      await node(page, words)
        .getByRole('button', { name: /^Actions for/ })
        .last()
        .click()
      await page.getByRole('menuitem', { name: action, exact: true }).click()
    }
    await act(/^Country is/, 'Negate (not)')
    await page.getByText('(has the tag vip or not (Country is DE))').waitFor()
    await node(page, 'At least one of these is true').getByLabel('How the conditions are joined').selectOption('none')
    await page.getByText('and not (has the tag vip or not (Country is DE))').waitFor()
    await act('None of these is true', 'Ungroup')
    await page.getByText('has the tag vip and has the tag vip and not (Country is DE)').waitFor()
    await act(/^not/, 'Put into an “or” group')
    await act(/^not/, 'Duplicate')
    await page.getByText('and (not (Country is DE) or not (Country is DE))').waitFor()
  })

  it('counts only the rule that is there now: requests for others are cancelled', async () => {
    const page = await open('/new')
    const cancelled: string[] = []
    page.on('requestfailed', (request) => {
      // On a slow machine, the picker cancels a request for fields as well.
      if (request.url().endsWith('/preview')) cancelled.push(`${request.postData()} ${request.failure()?.errorText}`)
    })
    // The answer to the first one is late.
    await page.route('**/segments/preview', async (route) => {
      if (route.request().postData()?.includes('"D"')) await new Promise((resolve) => setTimeout(resolve, 3000))
      await route.continue().catch(() => undefined)
    })
    await rule(page).getByRole('button', { name: 'Add condition' }).click()
    await choose(page, 'country', 'Country')
    const asked = page.waitForRequest('**/segments/preview')
    await rule(page).getByLabel('Value').pressSequentially('D')
    await asked
    await rule(page).getByLabel('Value').pressSequentially('E')
    await counted(page).getByText('2 contacts match').waitFor()
    expect(cancelled).toEqual([expect.stringMatching(/"D".*ERR_ABORTED/)])
  })

  it('shows what the server says at its condition, and what is missing before it asks', async () => {
    const page = await open('/new')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Give the segment a name.').waitFor()
    await page.getByText('Add at least one condition.').waitFor()
    expect(await page.locator('[name=name]:focus').count()).toBe(1)
    await page.getByRole('link', { name: 'JSON' }).click()
    const wrong = { customField: 'seats', operator: 'contains', value: 'x' }
    await page.getByLabel('The rule as JSON').fill(JSON.stringify({ all: [VIP, { any: [wrong] }] }))
    await page.getByText('rule.all[1].any[0].operator').waitFor()
    await counted(page).getByText('Not counted: fix what is marked in the rule.').waitFor()
    await page.getByLabel('The rule as JSON').fill('{"all": [')
    await page.getByText('This is not valid JSON:').waitFor()
    await page.getByLabel('The rule as JSON').fill(JSON.stringify({ all: [VIP, { any: [wrong, { colour: 'red' }] }] }))
    await page.getByRole('link', { name: 'Builder' }).click()
    await node(page, /^.seats/)
      .locator('select[name=operator][aria-invalid]')
      .waitFor()
    await node(page, 'This is not a condition:').getByRole('alert').waitFor()
    await node(page, /^.seats/)
      .getByLabel('Comparison')
      .selectOption({ label: 'is at least' })
    await page.getByLabel('Name').fill('Seats')
    await page.getByRole('button', { name: 'Save' }).click()
    await node(page, /^.seats/)
      .getByText('Something is missing here.')
      .waitFor()
    await node(page, 'This is not a condition:')
      .getByRole('button', { name: /^Actions/ })
      .click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await node(page, /^.seats/)
      .getByLabel('Value')
      .fill('2')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Seats' }).waitFor()
  })

  it('has an input for each kind of value, and gives back what it was given', async () => {
    const kinds = {
      all: [
        { event: 'purchase', metric: 'first', operator: 'before', value: '2026-03-01T12:00:00.000Z' },
        {
          event: 'purchase',
          metric: 'sum',
          property: 'value',
          currency: 'EUR',
          withinDays: 30,
          where: [{ property: 'sku', operator: 'equals', value: 'b-1' }],
          operator: 'between',
          value: [1, 5],
        },
        { attribute: 'stage', operator: 'in', value: ['Decision', 'Advocacy'] },
        { attribute: 'subscribed', channel: 'sms', operator: 'is_false' },
        { attribute: 'revenue', currency: 'EUR', operator: 'greater_than', value: '0.10' },
        { customField: 'plan', operator: 'equals', value: 'PRO', ignoreCase: true },
      ],
    }
    const id = await create('Kinds', kinds)
    const page = await open(`/${id}/edit`)
    expect(
      await node(page, /^the first/)
        .getByLabel('Value')
        .inputValue(),
    ).toMatch(/^2026-0[23]-\d\dT\d\d:\d\d$/)
    await node(page, /^the sum/)
      .getByLabel('From', { exact: true })
      .fill('2')
    await node(page, /^the sum/)
      .getByLabel('Last days')
      .fill('7.5')
    await node(page, /^the sum/)
      .getByRole('button', { name: 'Only where' })
      .click()
    await node(page, /^the sum/)
      .locator('[name=property]')
      .last()
      .fill('qty')
    await node(page, /^the sum/)
      .locator('[name=operator]')
      .last()
      .selectOption({ label: 'is more than' })
    await node(page, /^Stage/)
      .getByLabel('Retention')
      .check()
    await node(page, /accept/)
      .getByLabel('Channel')
      .selectOption('push')
    await node(page, /^.plan/)
      .getByRole('button', { name: /^Actions/ })
      .click()
    await page.getByRole('menuitem', { name: 'Match case' }).click()
    await page.getByRole('link', { name: 'JSON' }).click()
    const text = await page.getByLabel('The rule as JSON').inputValue()
    const [first, sum, stage, consent, revenue, plan] = kinds.all
    expect(JSON.parse(text)).toEqual({
      all: [
        first,
        {
          ...sum,
          withinDays: 7.5,
          value: [2, 5],
          where: [
            { property: 'sku', operator: 'equals', value: 'b-1' },
            { property: 'qty', operator: 'greater_than', value: null },
          ],
        },
        { ...stage, value: ['Decision', 'Retention', 'Advocacy'] },
        { ...consent, channel: 'push' },
        revenue,
        { customField: 'plan', operator: 'equals', value: plan?.value },
      ],
    })
  })

  it('keeps a draft over a reload, and asks before it is lost', async () => {
    const page = await open()
    await page.getByRole('link', { name: 'New segment' }).click()
    await page.getByLabel('Name').fill('Half done')
    await rule(page).getByRole('button', { name: 'Add condition' }).click()
    await choose(page, 'purch', 'purchase')
    await rule(page).getByLabel('Value').fill('')
    await node(page, /the number of .purchase. is at least .…/).waitFor()
    page.on('dialog', (dialog) => void dialog.accept())
    await page.reload()
    await page.getByText('Your unsaved changes from earlier are back.').waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('Half done')
    await node(page, /the number of .purchase. is at least .…/).waitFor()
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Keep editing' })
      .click()
    expect(page.url()).toContain('/segments/new')
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
    await page.goBack()
    expect(await page.getByLabel('Name').inputValue()).toBe('')
    // Nothing was changed, so no question is shown.
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
  })

  it('changes a segment, and sends only what was changed', async () => {
    const id = await create('Old name', VIP)
    const page = await open(`/${id}`)
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('New name')
    const sent: unknown[] = []
    // Chromium shows the body of an intercepted request.
    await page.route(`**/segments/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') sent.push(route.request().postDataJSON())
      await route.continue()
    })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'New name' }).waitFor()
    expect(sent).toEqual([{ name: 'New name' }])
    expect(await read(id)).toMatchObject({ version: 1, rule: VIP })
  })

  it('names what no event has brought yet, with the operators of every type', async () => {
    const page = await open('/new')
    await rule(page).getByRole('button', { name: 'Add condition' }).click()
    await page.getByRole('combobox', { name: 'Choose what the condition reads' }).fill('birthday')
    await page.getByRole('option', { name: 'birthday Custom field' }).click()
    await rule(page).getByLabel('Comparison').selectOption({ label: 'is within the next … days' })
    await page.getByText('birthday is within the next 30 days').waitFor()
    await counted(page).getByText('0 contacts match').waitFor()
  })
})

describe('the page of a segment', () => {
  it('shows size, members, changes and why, with what callers sent as text', async () => {
    const id = await create('Important <b>people</b>', { any: [VIP, { tag: HOSTILE, operator: 'has' }] })
    await dashboard.service.shipped()
    await person('zoe@x.io', { name: 'Zoe Zimmer' }, { tags: ['vip'] })
    await dashboard.service.shipped()
    const page = await open(`/${id}`)
    await page.getByText(`has the tag vip or has the tag ${HOSTILE}`).waitFor()
    const rows = page.getByRole('grid').getByRole('row')
    await expect.poll(() => rows.count()).toBe(5)
    expect(await rows.nth(1).innerText()).toMatch(/Zoe Zimmer[\s\S]*An event or a change/)
    await rows.filter({ hasText: HOSTILE }).waitFor()
    await page.getByRole('img', { name: 'Size' }).waitFor()
    await page.getByRole('link', { name: 'Who entered and left' }).click()
    await page.waitForURL(/tab=changes/)
    await rows.first().getByText('Change', { exact: true }).waitFor()
    await rows.nth(1).getByText('Zoe Zimmer').waitFor()
    expect(await rows.nth(1).innerText()).toMatch(/Zoe Zimmer[\s\S]*Entered[\s\S]*An event or a change/)
    expect(await rows.nth(2).innerText()).toMatch(/Entered[\s\S]*The rule was created or changed/)
    await page.getByRole('link', { name: 'Check a contact' }).click()
    await page.getByRole('button', { name: 'Choose a contact' }).click()
    await page.getByRole('combobox', { name: 'Choose a contact' }).fill('Baker')
    await page.keyboard.press('Enter')
    await page.waitForURL(/contact=/)
    const why = page.getByRole('region', { name: 'Check a contact' })
    await why.getByText('Is not a member').waitFor()
    expect(await why.getByText('Value: no').count()).toBe(2)
    await page.reload()
    await why.getByText('Is not a member').waitFor()
    expect(await page.locator('img, main b').count()).toBe(0)
    await page.getByRole('link', { name: '90 days' }).click()
    await page.waitForURL(/days=90/)
  })

  it('shows no numbers while its first members are computed, and all of them afterwards', async () => {
    const { sql } = dashboard.service
    const { segmentId } = await insertSegment(sql, business.businessId, FROM_DE, 'building')
    const page = await open(`/${segmentId}`)
    const size = page.getByRole('region', { name: 'Size' })
    await size.getByText('The members are being computed').waitFor()
    await page.getByRole('heading', { name: 'The members are being computed' }).waitFor()
    for (const text of await size.locator('dd').allInnerTexts()) expect(text).toMatch(/^–/)
    await sql`
      insert into segment_builds (business_id, epoch, total)
      values (${business.businessId}, nextval('segment_rule_numbers'), 1)`
    await expect
      .poll(() => size.locator('dd').allInnerTexts(), { timeout: PATIENCE_MS })
      .toEqual(['2', expect.stringMatching(/^2\b/), expect.stringMatching(/^0\b/)])
    await page.getByRole('grid', { name: 'Members' }).getByRole('link', { name: 'Ann Archer' }).waitFor()
    await page.getByRole('img', { name: 'Size' }).waitFor()
  })

  it('exports its members as CSV that no spreadsheet runs', async () => {
    const id = await create('../VIP: 1', VIP)
    const page = await open(`/${id}`)
    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as CSV' }).click()
    const file = await downloaded
    expect(file.suggestedFilename()).toBe('VIP 1.csv')
    const cells = parse<Record<string, string>>(await readFile(await file.path()), { bom: true, columns: true })
    expect(cells.find(({ Email }) => Email === 'joe@x.io')).toMatchObject({ 'First name': `'${FORMULA}`, Why: 'rule' })
    await page.getByText(/^\d members exported/).waitFor()
  })

  it('is deleted after a question, and stays while another names it', async () => {
    const inner = await create('Inner', VIP)
    const outer = await create('Outer', { segment: inner, operator: 'is_member' })
    const page = await open(`/${inner}`)
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    }
    await remove()
    await page.getByRole('dialog').getByRole('alert').getByText('Outer').waitFor()
    await send('DELETE', `/api/segments/${outer}`)
    await page.keyboard.press('Escape')
    await remove()
    await page.getByText('No segments yet').waitFor()
  })

  it('shows a reader sizes without names, values of persons or anything to change', async () => {
    const id = await create('Readable', { any: [VIP, { attribute: 'email', operator: 'equals', value: 'ann@x.io' }] })
    const page = await open(`/${id}`, 'read-only2@x.io')
    await page.getByRole('grid').getByRole('row').nth(1).waitFor()
    const text = await page.locator('main').innerText()
    expect(text).toContain('Email is …')
    expect(text).not.toMatch(/Ann|ann@x\.io|Edit|Delete|Export|Check a contact/)
    const editor = await open(`/${id}/edit`, 'read-only2@x.io')
    await editor.getByText('Page not found').waitFor()
  })

  it('that does not exist says so', async () => {
    const page = await open('/0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d35')
    await page.getByText('Page not found').waitFor()
  })
})

it('a contact shows its segments and why; the list of contacts is filtered by one', async () => {
  const id = await create('Important', VIP)
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/contacts`, { email: 'marketer2@x.io' })
  await page.getByLabel('Segment').selectOption({ label: 'Important' })
  await page.waitForURL((url) => url.searchParams.get('segment') === id)
  await expect.poll(() => page.getByRole('grid').getByRole('row').count()).toBeLessThan(5)
  await page.getByRole('link', { name: 'Ann Archer' }).click()
  const segments = page.getByRole('region', { name: 'Segments' })
  await segments.getByRole('link', { name: 'Important' }).waitFor()
  await segments.getByRole('button', { name: 'Why in “Important”?' }).click()
  await page.getByRole('dialog').getByText('Is a member').waitFor()
  await page.getByRole('dialog').getByText('has the tag vip').waitFor()
})
