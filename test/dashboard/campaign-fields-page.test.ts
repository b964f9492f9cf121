// @pages
/** Steps that change contacts, web triggers, and tracking, in the campaign form in a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
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

type Stored = Record<string, unknown> & { campaignId: string }

async function send(method: string, path: string, json?: object): Promise<Stored> {
  const { status, body } = await speakTo(dashboard.service.url)(method, `/api/${path}`, {
    key: business.secretKey,
    json,
  })
  expect([path, status, body]).toMatchObject([path, 200, {}])
  return (body.data as { campaign: Stored }).campaign
}

const draft = (json: object) => send('POST', 'campaigns', { name: 'A', trigger: { event: 'signup' }, ...json })
const read = (id: string) => send('GET', `campaigns/${id}`)

async function open(path: string): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/campaigns${path}`, { email: email() })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const group = (page: Page, name: string) => page.getByRole('group', { name, exact: true })

async function save(page: Page): Promise<string> {
  await button(page, 'Save').click()
  // Not by the message, because that of an earlier save may still be shown.
  await page.waitForURL(({ pathname }) => !/\/(edit|new)$/.test(pathname))
  return page.url().split('/').at(-1)?.split('?')[0] ?? ''
}

async function addUpdate(page: Page): Promise<void> {
  await button(page, 'Add a step to “Steps”').click()
  await page.getByRole('menuitem', { name: 'Change the contact', exact: true }).click()
}

async function setField(page: Page, number: number, name: string, becomes: string, value?: string): Promise<void> {
  await button(page, 'Set a custom field').click()
  const field = group(page, `Custom field ${number}`)
  await field.getByLabel('Custom field', { exact: true }).fill(name)
  await field.getByLabel('Becomes').selectOption(becomes)
  if (value !== undefined) await field.getByLabel('Value').fill(value)
}

it('a step changes tags and custom fields of every type, and says so in words', async () => {
  const page = await open('/new')
  await page.getByLabel('Name', { exact: true }).fill('Mark')
  await page.getByLabel('Event', { exact: true }).fill('signup')
  await addUpdate(page)
  const update = group(page, '1 Change the contact')
  await update.getByLabel('Add tags').pressSequentially('lead\n\nred, hot\n')
  expect(await update.getByLabel('Add tags').inputValue()).toBe('lead\n\nred, hot\n')
  await update.getByLabel('Remove tags').fill('cold')
  await setField(page, 1, 'plan', 'text', 'gold')
  await setField(page, 2, 'seats', 'a number', '2.5')
  await setField(page, 3, 'beta', 'yes')
  await setField(page, 4, 'late', 'no')
  await setField(page, 5, 'old', 'empty')
  await setField(page, 6, 'wrong', 'text', 'x')
  await button(page, 'Remove custom field 6').click()
  expect(await findBarriers(page)).toEqual([])
  const id = await save(page)
  expect(await read(id)).toMatchObject({
    steps: [
      {
        type: 'update',
        addTags: ['lead', 'red, hot'],
        removeTags: ['cold'],
        traits: { plan: 'gold', seats: 2.5, beta: true, late: false, old: null },
      },
    ],
  })
  const list = page.getByRole('region', { name: 'Steps' })
  await list.getByText('Add the tags').waitFor()
  expect((await list.innerText()).replaceAll(/\s+/g, ' ')).toContain(
    'Add the tags lead and red, hot; Remove the tags cold; Clear old; Set beta to true; Set late to false; Set plan to gold; Set seats to 2.5',
  )
})

it('shows at their fields what the server refuses of a change', async () => {
  const page = await open('/new')
  await page.getByLabel('Name', { exact: true }).fill('Mark')
  await page.getByLabel('Event', { exact: true }).fill('signup')
  await addUpdate(page)
  await button(page, 'Save').click()
  const update = group(page, '1 Change the contact')
  await update.getByRole('alert').getByText('must have at least one of addTags, removeTags and traits').waitFor()
  await update.getByLabel('Add tags').fill('a')
  await update.getByLabel('Remove tags').fill('a')
  await button(page, 'Save').click()
  await update.getByLabel('Remove tags').and(page.locator('[aria-invalid]')).waitFor()
  await update.getByLabel('Remove tags').fill('')
  await setField(page, 1, 'plan', 'text', 'gold')
  await setField(page, 2, 'plan', 'a number', '1')
  await update.getByText('This field is already set above.').waitFor()
  await button(page, 'Remove custom field 1').click()
  expect(await update.getByLabel('Custom field', { exact: true }).inputValue()).toBe('plan')
  const id = await save(page)
  expect(await read(id)).toMatchObject({ steps: [{ addTags: ['a'], removeTags: [], traits: { plan: 1 } }] })
})

it('starts by what a browser captures, under conditions on the page', async () => {
  const page = await open('/new')
  await page.getByLabel('Name', { exact: true }).fill('Readers')
  await page.getByLabel('Starts').selectOption('When someone spends time on a page')
  await page.getByText('Reported once a minute').waitFor()
  await button(page, 'Add a condition on the page').click()
  await button(page, 'Add a condition on the page').click()
  const [first, second] = [
    page.getByRole('combobox', { name: 'Property' }).first(),
    page.getByRole('combobox', { name: 'Property' }).last(),
  ]
  expect(await first.locator('option').allInnerTexts()).toEqual(['Path', 'Host', 'Active seconds'])
  await page.getByRole('combobox', { name: 'Comparison' }).first().selectOption('text starts_with')
  await page.getByRole('textbox', { name: 'Value' }).first().fill('/prices')
  await second.selectOption('Active seconds')
  await button(page, 'Save').click()
  await page.getByRole('spinbutton', { name: 'Value' }).and(page.locator('[aria-invalid]')).waitFor()
  await page.getByRole('spinbutton', { name: 'Value' }).fill('60')
  expect(await findBarriers(page)).toEqual([])
  const id = await save(page)
  const where = [
    { property: 'path', operator: 'starts_with', value: '/prices' },
    { property: 'seconds', operator: 'greater_than_or_equal', value: 60 },
  ]
  expect((await read(id))['trigger']).toEqual({ web: 'active_time', where })
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Starts').selectOption('When a page is viewed')
  expect(await page.getByRole('combobox', { name: 'Property' }).count()).toBe(0)
  await save(page)
  expect((await read(id))['trigger']).toEqual({ web: 'page_view' })
})

it('records opens and clicks unless they are switched off', async () => {
  const page = await open('/new')
  await page.getByLabel('Name', { exact: true }).fill('Quiet')
  await page.getByLabel('Event', { exact: true }).fill('signup')
  expect(await page.getByLabel('Record opened mails').isChecked()).toBe(true)
  expect(await page.getByLabel('Record clicked links').isChecked()).toBe(true)
  expect(await page.getByText('Without PUBLIC_URL, neither is recorded').count()).toBe(1)
  await page.getByLabel('Record opened mails').uncheck()
  const id = await save(page)
  expect((await read(id))['tracking']).toEqual({ opens: false, clicks: true })
  await page.getByRole('link', { name: 'Edit' }).click()
  expect(await page.getByLabel('Record opened mails').isChecked()).toBe(false)
  await page.getByLabel('Record opened mails').check()
  await page.getByLabel('Record clicked links').uncheck()
  expect(await page.getByText('Without PUBLIC_URL').count()).toBe(1)
  await page.getByLabel('Record opened mails').uncheck()
  expect(await page.getByText('Without PUBLIC_URL').count()).toBe(0)
  await page.getByLabel('Record opened mails').check()
  await save(page)
  expect((await read(id))['tracking']).toEqual({ opens: true, clicks: false })
})

it('is the same after it was saved unchanged', async () => {
  const before = await draft({
    trigger: {
      web: 'scroll_depth',
      where: [
        { property: 'depth', operator: 'between', value: [25, 75] },
        { property: 'host', operator: 'in', value: ['a.io', 'b.io'] },
      ],
    },
    tracking: { opens: false, clicks: false },
    steps: [
      {
        id: 'one',
        type: 'update',
        addTags: ['a, b'],
        removeTags: ['c'],
        traits: { x: null, y: 1.5, z: 'true', w: false },
      },
    ],
  })
  const page = await open(`/${before.campaignId}/edit`)
  await save(page)
  expect(await read(before.campaignId)).toEqual(before)
})
