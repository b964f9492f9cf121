// @pages
/** The campaign form in a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { speakTo } from '../front-door/http-client.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, findBarriers, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  await addUser(dashboard.service.sql, email(), { businessId: business.businessId, role: 'owner' })
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const email = () => `owner-${business.businessId}@x.io`

async function send<Data>(method: string, path: string, json?: object): Promise<Data> {
  const { status, body } = await speakTo(dashboard.service.url)(method, `/api/${path}`, {
    key: business.secretKey,
    json,
  })
  expect([path, status, body]).toMatchObject([path, 200, {}])
  return body.data as Data
}

type Stored = Record<string, unknown> & { campaignId: string }
const draft = async (json: object) =>
  (await send<{ campaign: Stored }>('POST', 'campaigns', { name: 'A', trigger: { event: 'signup' }, ...json })).campaign
const read = async (id: string) => (await send<{ campaign: Stored }>('GET', `campaigns/${id}`)).campaign

async function template(name: string, channel: string, variant: object): Promise<string> {
  const wanted = { name, channel, variants: { en: variant }, defaultLanguage: 'en' }
  return (await send<{ template: { templateId: string } }>('POST', 'templates', wanted)).template.templateId
}

async function open(path: string): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/campaigns${path}`, { email: email() })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const step = (page: Page, name: string) => page.getByRole('group', { name, exact: true })
const save = async (page: Page) => {
  await button(page, 'Save').click()
  // Not by the message, because that of an earlier save may still be shown.
  await page.waitForURL(({ pathname }) => !/\/(edit|new)$/.test(pathname))
  await page.getByText('Campaign saved.').first().waitFor()
}
const idOf = (page: Page) => page.url().split('/').at(-1)?.split('?')[0] ?? ''

async function add(page: Page, list: string, type: string): Promise<void> {
  await button(page, `Add a step to “${list}”`).click()
  await page.getByRole('menuitem', { name: type, exact: true }).click()
}

describe('the form', () => {
  it('makes a campaign with every kind of step', async () => {
    const hello = await template('Hello <b>', 'sms', { text: 'Hi' })
    await template('Mail', 'email', { subject: 'Hi', text: 'Hi' })
    const page = await open('/new')
    await page.getByLabel('Name', { exact: true }).fill('Onboarding')
    await page.getByLabel('Event', { exact: true }).fill('signup')
    await button(page, 'Add a condition on the event').click()
    await page.getByRole('textbox', { name: 'Property' }).fill('plan')
    await page.getByRole('textbox', { name: 'Value' }).fill('pro')
    await page.getByLabel('Only events from servers').check()
    await page.getByLabel(/^Goal/).fill('paid')
    await page.getByLabel('Contacts can enter again').check()

    await add(page, 'Steps', 'Send a message')
    const first = step(page, '1 Send a message')
    await first.getByLabel('Channel').selectOption('SMS')
    expect(await first.getByLabel('Template').locator('option').allInnerTexts()).toEqual(['Choose…', 'Hello <b>'])
    await first.getByLabel('Template').selectOption('Hello <b>')
    await add(page, 'Steps', 'Wait')
    await step(page, '2 Wait').getByLabel('How long').fill('90')
    await step(page, '2 Wait').getByLabel('Unit').selectOption('Minutes')
    await add(page, 'Steps', 'Wait until a time of day')
    await step(page, '3 Wait until a time of day').getByLabel('Local time').fill('08:30')
    await step(page, '3 Wait until a time of day').getByLabel('Fri').check()
    await add(page, 'Steps', 'Wait for an event')
    await step(page, '4 Wait for an event').getByLabel('Event', { exact: true }).fill('opened')
    await add(page, '4 Wait for an event: When time runs out', 'End here')
    await add(page, 'Steps', 'Branch by a rule')
    const branch = step(page, '5 Branch by a rule')
    await branch.getByRole('button', { name: 'Add condition' }).click()
    await page.keyboard.type('vip')
    await page.getByRole('option', { name: /vip.*tag/i }).click()
    await add(page, 'Steps', 'Split at random')
    const split = step(page, '6 Split at random')
    await split.getByLabel('Part 1: per cent').fill('12.5')
    await split.getByLabel('Part 2: per cent').fill('87.5')
    await add(page, '6 Split at random: part 2', 'Wait')

    await page.getByLabel('Quiet hours').selectOption('None')
    await button(page, 'Add a cap').click()
    await page.getByRole('group', { name: 'Cap 1' }).getByLabel('In days').fill('1.5')
    await page.getByLabel('Held out, per cent').fill('10')
    expect(await findBarriers(page)).toEqual([])
    await save(page)
    expect(await read(idOf(page))).toMatchObject({
      name: 'Onboarding',
      trigger: {
        event: 'signup',
        where: [{ property: 'plan', operator: 'equals', value: 'pro' }],
        sources: ['live'],
      },
      goal: { event: 'paid' },
      canEnterAgain: true,
      quietHours: null,
      caps: [{ channel: 'email', atMost: 3, days: 1.5, whenReached: 'wait' }],
      holdOut: 10,
      steps: [
        { type: 'send', channel: 'sms', template: hello, kind: 'marketing' },
        { type: 'wait', for: 'PT90M' },
        { type: 'wait_until', time: '08:30', weekdays: [5] },
        { type: 'wait_for', event: 'opened', timeout: 'P7D', steps: [], otherwise: [{ type: 'exit' }] },
        { type: 'branch', rule: { all: [{ tag: 'vip', operator: 'has' }] } },
        {
          type: 'split',
          parts: [
            { percent: 12.5, steps: [] },
            { percent: 87.5, steps: [{ type: 'wait', for: 'P1D' }] },
          ],
        },
      ],
    })
  })

  it('moves, copies and deletes steps by keyboard, into branches and out of them', async () => {
    const steps = [{ type: 'wait', for: 'P1D' }, { type: 'wait_for', event: 'x', timeout: 'P1D' }, { type: 'exit' }]
    const { campaignId } = await draft({ steps })
    const page = await open(`/${campaignId}/edit`)
    await button(page, 'Move down: 1 Wait').press('Enter')
    await page.getByText('Moved to place 1a.1.').waitFor({ state: 'attached' })
    await page.locator(':focus').and(button(page, 'Move down: 1a.1 Wait')).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Alt+ArrowDown')
    await page.locator(':focus').and(button(page, 'Move down: 2 Wait')).waitFor()
    await page.keyboard.press('Alt+ArrowUp')
    await page.locator(':focus').and(button(page, 'Move up: 1b.1 Wait')).waitFor()
    await button(page, 'Actions for 1b.1 Wait').press('Enter')
    await page.getByRole('menuitem', { name: 'Duplicate' }).press('Enter')
    await page.locator('h3:focus', { hasText: '1b.2 Wait' }).waitFor()
    await button(page, 'Actions for 2 End here').press('Enter')
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
    await step(page, '2 End here').waitFor({ state: 'detached' })
    await save(page)
    const waits = [
      { type: 'wait', for: 'P1D' },
      { type: 'wait', for: 'P1D' },
    ]
    expect(await read(campaignId)).toMatchObject({ steps: [{ type: 'wait_for', steps: [], otherwise: waits }] })
  })

  it('shows what the server refuses at its step, and goes there', async () => {
    const page = await open('/new')
    await page.getByLabel('Event', { exact: true }).fill('signup')
    await add(page, 'Steps', 'Wait for an event')
    await add(page, '1 Wait for an event: When it arrives', 'Wait')
    await step(page, '1a.1 Wait').getByLabel('How long').fill('')
    await button(page, 'Save').click()
    // The schema checks the name first.
    await page.locator('[name="name"]:focus').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Faulty')
    await button(page, 'Save').click()
    await page.locator('[name="steps[0].event"]:focus').waitFor()
    const wait = step(page, '1a.1 Wait').getByLabel('How long')
    expect(await wait.getAttribute('aria-invalid')).toBe('true')
    expect(await findBarriers(page)).toEqual([])
    await wait.fill('2')
    expect(await wait.getAttribute('aria-invalid')).toBe(null)
    await step(page, '1 Wait for an event').getByLabel('Event', { exact: true }).fill('seen')
    await save(page)
  })

  it('keeps what was typed over other pages and reloads until it is saved', async () => {
    const { campaignId } = await draft({})
    const page = await open(`/${campaignId}/edit`)
    await page.getByLabel('Name', { exact: true }).fill('Typed')
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
    await page.goBack()
    await page.getByText('Your unsaved changes').waitFor()
    await page.reload()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed')
    await save(page)
    expect(await read(campaignId)).toMatchObject({ name: 'Typed' })
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Name', { exact: true }).waitFor()
    expect(await page.getByText('Your unsaved changes').count()).toBe(0)
  })

  it('starts with segments, and once for their members', async () => {
    const rule = { tag: 'vip', operator: 'has' }
    const { segment } = await send<{ segment: { segmentId: string } }>('POST', 'segments', { name: 'VIPs', rule })
    const page = await open('/new')
    await page.getByLabel('Name', { exact: true }).fill('News')
    await page.getByLabel('Starts').selectOption('Once, for the members of a segment')
    await page.getByLabel('Segment').selectOption('VIPs')
    await page.getByLabel('At', { exact: true }).fill('2026-12-01T09:00')
    await save(page)
    const id = idOf(page)
    const at = await page.evaluate<string>(`new Date('2026-12-01T09:00').toISOString()`)
    expect((await read(id))['trigger']).toEqual({ segment: segment.segmentId, on: 'members', at })
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Starts').selectOption('On leaving a segment')
    await save(page)
    expect((await read(id))['trigger']).toEqual({ segment: segment.segmentId, on: 'leave' })
  })

  it('locks the start of a campaign that was published, and still changes its steps and quiet hours', async () => {
    const { campaignId } = await draft({ quietHours: null })
    await send('POST', `campaigns/${campaignId}/publish`)
    const page = await open(`/${campaignId}/edit`)
    await page.getByText('This campaign has been published, so its start').waitFor()
    expect(await page.getByLabel('Event', { exact: true }).isDisabled()).toBe(true)
    await add(page, 'Steps', 'Wait')
    await page.getByLabel('Quiet hours').selectOption('Same as the business')
    await save(page)
    const changed = await read(campaignId)
    expect(changed).toMatchObject({ version: 2, steps: [{ type: 'wait', for: 'P1D' }] })
    expect(changed).not.toHaveProperty('quietHours')
  })
})

describe('any campaign that the API takes', () => {
  const CAMPAIGNS = {
    'without anything': {},
    'with everything': {
      trigger: {
        event: 'order',
        where: [
          { property: 'total', operator: 'between', value: [1, 2] },
          { property: 'plan', operator: 'in', value: ['a', 'b'], ignoreCase: true },
          { property: 'gift', operator: 'is_true' },
        ],
      },
      goal: { event: 'paid' },
      canEnterAgain: true,
      quietHours: { from: '22:30', to: '06:15' },
      caps: [{ channel: 'push', atMost: 1, days: 0.25, whenReached: 'skip' }],
      holdOut: 12.34,
      steps: [
        { id: 'first', type: 'wait', for: 'P1DT12H30M' },
        { id: 'late', type: 'wait_until', time: '23:59', weekdays: [7, 1] },
        {
          id: 'fork',
          type: 'branch',
          rule: {
            any: [
              { not: { tag: 'vip', operator: 'has' } },
              { event: 'x', metric: 'count', operator: 'equals', value: 2 },
            ],
          },
          steps: [
            {
              id: 'lots',
              type: 'split',
              parts: [{ percent: 33.33 }, { percent: 66.67, steps: [{ id: 'out', type: 'exit' }] }],
            },
          ],
          otherwise: [
            {
              id: 'heard',
              type: 'wait_for',
              event: 'y',
              timeout: 'PT45S',
              steps: [{ id: 'in', type: 'wait', for: 'P1W' }],
            },
          ],
        },
        { id: 'gone', type: 'send', channel: 'webhook', template: crypto.randomUUID(), kind: 'transactional' },
      ],
    },
  }

  it.each(Object.entries(CAMPAIGNS))('%s is the same after it was saved unchanged', async (_, json) => {
    const before = await draft(json)
    for (const view of ['', '?view=json']) {
      const page = await open(`/${before.campaignId}/edit${view}`)
      await save(page)
      expect(await read(before.campaignId)).toEqual(before)
    }
  })

  it('keeps steps that the form does not know', async () => {
    const page = await open('/new?view=json')
    const json = page.getByLabel('The campaign as JSON')
    const unknown = { type: 'fly', height: [1, { far: true }] }
    await json.fill(JSON.stringify({ name: 'X', trigger: { moon: 'full' }, steps: [unknown], extra: 1 }))
    await page.getByRole('link', { name: 'Form' }).click()
    await step(page, '1 fly').getByLabel('This step as JSON').waitFor()
    await page.getByLabel('The start as JSON').waitFor()
    await add(page, 'Steps', 'End here')
    await page.getByRole('link', { name: 'JSON', exact: true }).click()
    expect(JSON.parse(await json.inputValue())).toEqual({
      name: 'X',
      trigger: { moon: 'full' },
      steps: [unknown, { type: 'exit' }],
      extra: 1,
    })
  })
})
