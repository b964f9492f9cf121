// @pages
/** The Home page in a real Chromium, by mouse and by keyboard alone. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { insertKey } from '../../src/businesses/keys.ts'
import { DEMO_CONTACTS } from '../../src/demo/load-demo.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { createBusiness } from '../support/stack.ts'
import { addUser } from './session-client.ts'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const open = (email = 'owner@x.io') => dashboard.visit(`/dashboard/b/${dashboard.businessId}`, { email })
/** Returns a figure of a section, as the page shows it. */
const figure = (page: Page, section: string, label: string) =>
  page
    .getByRole('region', { name: section })
    .locator('dl > div')
    .filter({ hasText: label })
    .locator('dd > span')
    .first()

it('says what to do on an empty installation, and fills it by keyboard alone', async () => {
  const page = await open()
  await page.getByText('There are no contacts yet').waitFor()
  await page.getByText('All is well').waitFor()
  expect(await page.getByRole('region', { name: 'First steps' }).innerText()).toContain('/api/sdk/track')
  await page.getByRole('button', { name: 'Load demo data' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText(`${DEMO_CONTACTS.default} contacts and`).waitFor()
  await page.getByText('There are no contacts yet').waitFor({ state: 'detached' })
  // Only some of the people of the demo are new today.
  const today = async () => {
    const { days } = (await page.evaluate(
      async (path) => ((await (await fetch(path)).json()) as { data: unknown }).data,
      `/dashboard/api/b/${dashboard.businessId}/days`,
    )) as { days: { contacts: number }[] }
    return days.at(-1)?.contacts ?? 0
  }
  await expect.poll(today, { timeout: PATIENCE_MS }).toBeGreaterThan(0)
  const newContacts = () => figure(page, 'Today', 'New contacts').innerText()
  await expect.poll(newContacts, { timeout: PATIENCE_MS }).toBe(String(await today()))
  await page.getByRole('img', { name: 'Revenue in EUR' }).waitFor()
})

it('offers demo data only to those who may change the business', async () => {
  const { businessId } = await createBusiness(dashboard.service.sql)
  const email = 'marketer2@x.io'
  await addUser(dashboard.service.sql, 'owner2@x.io', { businessId, role: 'owner' })
  await addUser(dashboard.service.sql, email, { businessId, role: 'marketer' })
  const page = await dashboard.visit(`/dashboard/b/${businessId}`, { email })
  await page.getByText('There are no contacts yet').waitFor()
  expect(await page.getByRole('button', { name: 'Load demo data' }).count()).toBe(0)
})

it('follows what comes in without a reload, and says what needs a person', async () => {
  const page = await open('read-only@x.io')
  await settle(page, true)
  const { key } = await insertKey(dashboard.service.sql, dashboard.businessId, 'secret')
  const send = (json: object) =>
    fetch(`${dashboard.service.url}/api/sdk/track`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(json),
    })
  for (let sent = 0; sent < 9; sent += 1) await send({ event: 'signup', identity: { email: 'ann@x.io' } })
  for (let sent = 0; sent < 3; sent += 1) await send({ event: 'signup', identity: {} })
  await expect.poll(() => figure(page, 'Now', 'Accepted').innerText(), { timeout: PATIENCE_MS }).toBe('75%')
  await page.getByText('More than one in ten requests').waitFor()
  await page.getByText('Needs attention').waitFor()
  const outcomes = () => page.getByRole('list', { name: 'Answers in the last minute, by outcome' }).innerText()
  expect((await outcomes()).replaceAll(/\s+/g, ' ')).toContain('Done 9')
  expect((await outcomes()).replaceAll(/\s+/g, ' ')).toContain('Refused 3')
  expect(await page.getByRole('link', { name: 'Refused' }).count()).toBe(0)
  const mine = await open()
  await mine.getByRole('link', { name: 'View' }).click()
  await mine.waitForURL(/live\?outcome=refused/)
  await mine.goBack()
  await mine.getByRole('link', { name: 'Done' }).click()
  await mine.waitForURL(/live\?outcome=done/)
})

it('leads to where each thing is mended', async () => {
  const { service, businessId } = dashboard
  await service.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
    values (gen_random_uuid(), ${businessId}, '1-0', '1-1', 'track', 'broken', '{}')`
  await service.sql`
    insert into destinations (business_id, id, kind, name, types, settings, secret, active)
    values (${businessId}, gen_random_uuid(), 'webhook', 'CRM', '{lead}', '{"url":"http://127.0.0.1:9/in"}', 'sealed', false)`
  await service.sql`
    insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state)
    select business_id, gen_random_uuid(), id, gen_random_uuid(), gen_random_uuid(), 'called', 'lead', 0, '{}', 'dead'
    from destinations where business_id = ${businessId}`
  await service.sql`
    insert into channels (business_id, channel, provider, settings, revision, paused_at, pause_reason)
    values (${businessId}, 'sms', 'log', '{}', gen_random_uuid(), 1, 'refused')`
  const page = await open('operator@x.io')
  const follow = async (text: string) => {
    await page.goto(`${service.url}/dashboard/b/${businessId}`)
    const note = page.getByText(text).locator('..')
    await note.getByRole('link').focus()
    await page.keyboard.press('Enter')
  }
  await follow('1 conversion could not be delivered.')
  await page.waitForURL(/deliveries\?state=dead/)
  await follow('too many messages were refused')
  await page.waitForURL(/settings\/channels\?channel=sms/)
  await page.getByRole('dialog').getByText('SMS').first().waitFor()
  await follow('1 request could not be applied.')
  await page.waitForURL(/\/dashboard\/operations/)
  // Owners cannot open that page.
  const mine = await open()
  await mine.getByText('1 request could not be applied.').waitFor()
  expect(await mine.getByRole('link', { name: 'Open Operations' }).count()).toBe(0)
})
