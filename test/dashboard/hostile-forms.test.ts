// @pages
/** Markup and scripts that a person enters in forms are stored unchanged, and shown as text everywhere. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const HOSTILE = `"'><img src=x onerror="document.title='run'"><script>document.title='run'</script>{{1}}`
/** A name that only one form uses. */
const VIEW = `${HOSTILE} view`
/** For fields with at most 64 characters. */
const SHORT = '<img src=x onerror="document.title=\'run\'">'

let dashboard: Dashboard
let business: TestBusiness
let contactId: string
beforeAll(async () => {
  dashboard = await openDashboard()
  const { sql, url, shipped } = dashboard.service
  business = await createBusiness(sql, { name: 'Bookshop' })
  await addUser(sql, 'owner@x.io', { businessId: business.businessId, role: 'owner' })
  const response = await fetch(`${url}/api/sdk/track`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ event: 'signup', identity: { email: 'eve@x.io' }, traits: { plan: 'pro' } }),
  })
  const answer = (await response.json()) as { data: { contactId: string } }
  ;({ contactId } = answer.data)
  await shipped()
})
afterAll(() => dashboard.close())

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })

interface Form {
  name: string
  /** Path below that of the business. */
  path: string | (() => string)
  fill: (page: Page) => Promise<void>
  /** Pages that show what was entered. `here`: the page to which the form leads. */
  shownAt: string[]
  /** A part of what they show. Default: what is entered in all forms. */
  shows?: string
}

/** Saves, and waits until the dialog has closed. */
async function saveDialog(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

const FORMS: Form[] = [
  {
    name: 'the profile of a contact',
    path: () => `/contacts/${contactId}`,
    async fill(page) {
      await button(page, 'Edit').click()
      for (const label of ['First name', 'Last name', 'City']) await field(page, label).fill(SHORT)
      await saveDialog(page)
    },
    shownAt: ['here', '/contacts'],
  },
  {
    name: 'a custom field',
    path: '/custom-fields?field=plan',
    async fill(page) {
      await field(page, 'Description').fill(HOSTILE)
      await saveDialog(page)
    },
    shownAt: ['/custom-fields', '/custom-fields?field=plan'],
  },
  {
    name: 'a segment',
    path: '/segments/new',
    async fill(page) {
      await field(page, 'Name').fill(HOSTILE)
      await field(page, 'Description').fill(HOSTILE)
      await page.getByRole('region', { name: 'Rule' }).getByRole('button', { name: 'Add condition' }).click()
      await page.getByRole('combobox', { name: 'Choose what the condition reads' }).fill('city')
      await page.getByRole('option', { name: 'City', exact: true }).first().click()
      await page.getByRole('region', { name: 'Rule' }).getByLabel('Value').fill(HOSTILE)
      await button(page, 'Save').click()
      await page.getByText('Segment saved.').first().waitFor()
    },
    shownAt: ['here', '/segments'],
  },
  {
    name: 'a campaign',
    path: '/campaigns/new',
    async fill(page) {
      await field(page, 'Name').fill(HOSTILE)
      await field(page, 'Event').fill(SHORT)
      await button(page, 'Add a condition on the event').click()
      await page.getByRole('textbox', { name: 'Property' }).fill(SHORT)
      await page.getByRole('textbox', { name: 'Value' }).fill(HOSTILE)
      await button(page, 'Save').click()
      await page.getByText('Campaign saved.').first().waitFor()
    },
    shownAt: ['here', '/campaigns'],
  },
  {
    name: 'a template',
    path: '/templates/new',
    async fill(page) {
      await field(page, 'Name').fill(HOSTILE)
      await field(page, 'Subject').fill(SHORT)
      await page.getByRole('textbox', { name: 'HTML' }).fill('<p>Hi</p>')
      await button(page, 'Save').click()
      await page.getByText('Template saved.').first().waitFor()
    },
    shownAt: ['here', '/templates'],
  },
  {
    name: 'a view of contacts',
    path: `/contacts?tag=${encodeURIComponent(SHORT)}`,
    async fill(page) {
      await button(page, 'Save view').click()
      await field(page, 'Name of the view').fill(VIEW)
      await saveDialog(page)
    },
    shownAt: ['/contacts'],
    shows: VIEW,
  },
  {
    name: 'a board and a chart',
    path: '/analytics',
    async fill(page) {
      await page.getByRole('button', { name: 'Save to board' }).first().click()
      await field(page, 'Title').fill(HOSTILE)
      await field(page, 'Name').fill(HOSTILE)
      await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
      await button(page, 'Open the board').click()
      await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
    },
    shownAt: ['here', '/boards'],
  },
  {
    name: 'a query',
    path: '/sql',
    async fill(page) {
      await page.getByRole('textbox', { name: 'SQL statement' }).focus()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(`select '${HOSTILE.replaceAll("'", "''")}' as "${SHORT.replaceAll('"', '')}"`)
      await button(page, 'Run').click()
      await page.getByText('1 row').first().waitFor()
      await button(page, 'Save…').click()
      await page.getByRole('dialog').getByLabel('Name').fill(HOSTILE)
      await saveDialog(page)
    },
    shownAt: ['here', '/sql'],
  },
  {
    name: 'a destination',
    path: '/deliveries',
    async fill(page) {
      await button(page, 'Add a destination').first().click()
      await field(page, 'Kind').selectOption('Webhook')
      await field(page, 'Name').fill(HOSTILE)
      await field(page, 'Address').fill('http://127.0.0.1:9/in?<script>1</script>')
      await page.keyboard.press('Enter')
      await button(page, 'I have stored it').click()
    },
    shownAt: ['/deliveries'],
  },
  // This one is last, because it then is in the navigation of every page.
  {
    name: 'the business',
    path: '/settings/business',
    async fill(page) {
      await field(page, 'Name').fill(HOSTILE)
      await button(page, 'Save').first().click()
      await page.getByText('Saved.').first().waitFor()
    },
    shownAt: ['', '/settings/audit'],
  },
]

it.each(FORMS)('$name', async ({ path, fill, shownAt, shows = '<img src=x' }) => {
  const at = (end: string) => `/dashboard/b/${business.businessId}${end}`
  const page = await dashboard.visit(at(typeof path === 'string' ? path : path()), { email: 'owner@x.io' })
  await settle(page, true)
  await fill(page)
  await expectText(page)
  const here = page.url()
  for (const shown of shownAt) {
    await page.goto(shown === 'here' ? here : dashboard.service.url + at(shown))
    await settle(page, true)
    await page.getByText(shows, { exact: false }).filter({ visible: true }).first().waitFor()
    await expectText(page)
  }
})

it('the name of a person, as colleagues have it', async () => {
  const page = await dashboard.visit('/dashboard/account', { email: 'owner@x.io' })
  await settle(page)
  await field(page, 'Name').fill(HOSTILE)
  await button(page, 'Save').first().click()
  await page.getByText('Saved.').first().waitFor()
  await page.goto(`${dashboard.service.url}/dashboard/b/${business.businessId}/settings/people`)
  await page.getByRole('grid').getByText('<img src=x', { exact: false }).first().waitFor()
  await expectText(page)
})

async function expectText(page: Page): Promise<void> {
  expect(await page.locator('img[src=x], main script').count()).toBe(0)
  expect(await page.title()).not.toBe('run')
  expect(dashboard.complaints.splice(0)).toEqual([])
}
