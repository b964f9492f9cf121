// @pages
/** The operators' page in a real Chromium, by mouse and by keyboard alone. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { eventFact, track } from '../support/facts.ts'
import { recordAudit } from '../../src/audit/audit.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { addUser } from './session-client.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function addLetter(reason: string, payload: string): Promise<void> {
  await dashboard.service.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
    values (${randomUUID()}, ${dashboard.businessId}, '0', '1-1', 'track', ${reason}, ${payload})`
}
const goodRequest = () =>
  JSON.stringify({ ...track(dashboard.businessId, eventFact('signup', { email: 'ann@x.io' })), n: 1, requestId: 'r' })
const open = (email = 'operator@x.io') => dashboard.visit('/dashboard/operations', { email })
const row = (page: Page, text: string) =>
  page.getByRole('grid', { name: 'Dead letters' }).getByRole('row').filter({ hasText: text })

it('shows each partition with its worker, and that all is ready', async () => {
  const page = await open()
  const stores = page.getByRole('grid', { name: 'Stores' })
  for (const [name, size] of [
    ['Redis', 'of memory'],
    ['Postgres', 'on disk'],
    ['ClickHouse', 'on disk'],
  ] as const)
    await stores.getByRole('row', { name: new RegExp(`^${name} Answers .*${size}$`) }).waitFor()
  const partitions = page.getByRole('grid', { name: 'Partitions' })
  await partitions.getByRole('row').nth(1).waitFor()
  // A worker that is busy with other tests takes them late.
  await expect.poll(() => partitions.getByText('None').count(), { timeout: PATIENCE_MS }).toBe(0)
  await page.getByText('Ready').waitFor()
  await page.getByText('No dead letters').waitFor()
})

it('sends a dead letter again by keyboard alone, and deletes another after a question', async () => {
  await addLetter(HOSTILE, 'no JSON')
  await addLetter('was broken', goodRequest())
  const page = await open()
  await row(page, 'was broken').focus()
  await settle(page, true)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Send again', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Applied: 1 of 1.').waitFor()
  await row(page, 'was broken').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Send all of these again' }).click()
  await page.getByText('Applied: 0 of 1. The payload is not JSON.').waitFor()
  await row(page, HOSTILE).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('This cannot be undone.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No dead letters').waitFor()
  expect(await page.locator('img').count()).toBe(0)
})

it('lists changes to the installation, with the command and the user of the operating system', async () => {
  const actor = { kind: 'command', id: 'alice', name: 'admin partitions set' } as const
  const change = { businessId: null, actor, action: 'partitions.set', target: null, details: { to: 4 } }
  await recordAudit(dashboard.service.sql, change)
  const page = await open()
  const log = page.getByRole('grid', { name: 'Audit log' })
  await log.getByRole('row', { name: /admin partitions set \(alice\).*Number of partitions changed/ }).click()
  await page.getByRole('dialog').getByText('"to": 4').waitFor()
})

type Box = { scrollWidth: number; clientWidth: number }

it('wraps what does not fit into a line of the log, and makes the row higher', async () => {
  const actor = { kind: 'command', id: 'a-user-with-a-long-name', name: 'admin partitions set, and much more' } as const
  const details = { to: 4 }
  for (const target of [null, 'x'])
    await recordAudit(dashboard.service.sql, { businessId: null, actor, action: 'partitions.set', target, details })
  const log = (await open()).getByRole('grid', { name: 'Audit log' })
  const rows = log.getByRole('row').filter({ hasText: actor.id })
  await rows.nth(1).waitFor()
  const who = rows.first().getByRole('gridcell').nth(1)
  expect(
    await who.evaluate((cell) => (cell as unknown as Box).scrollWidth - (cell as unknown as Box).clientWidth),
  ).toBe(0)
  const [first, second] = await Promise.all([rows.nth(0).boundingBox(), rows.nth(1).boundingBox()])
  expect(first!.height).toBeGreaterThan(40)
  expect(second!.y).toBeGreaterThanOrEqual(first!.y + first!.height - 1)
})

it('fits on a telephone, where no table scrolls sideways', async () => {
  const actor = { kind: 'command', id: 'root', name: 'admin partitions set' } as const
  await recordAudit(dashboard.service.sql, { businessId: null, actor, action: 'partitions.set', target: null })
  const page = await dashboard.visit('/dashboard/operations', { email: 'operator@x.io', width: 390 })
  await page.getByRole('grid', { name: 'Audit log' }).getByRole('row').nth(1).waitFor()
  // Tables come and go while the page reads, so all are measured at once.
  const beyond = () =>
    page
      .getByRole('grid')
      .evaluateAll((grids) =>
        (grids as unknown as (Box & { ariaLabel: string })[])
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ ariaLabel }) => ariaLabel),
      )
  await expect.poll(() => page.getByRole('grid').count()).toBeGreaterThan(2)
  expect(await beyond()).toEqual([])
})

it('names in the log who was changed and how, in words', async () => {
  const { sql } = dashboard.service
  const target = await addUser(sql, 'new@x.io', { isOperator: true })
  const actor = { kind: 'command', id: 'alice', name: 'admin user create' } as const
  const created = { email: 'new@x.io', isOperator: true }
  await recordAudit(sql, { businessId: null, actor, action: 'person.create', target, details: created })
  await recordAudit(sql, { businessId: null, actor, action: 'person.link', target })
  const self = { kind: 'user', id: target, name: 'new@x.io' } as const
  const details = { setsPassword: true }
  await recordAudit(sql, { businessId: null, actor: self, action: 'account.sign-in-link', target, details })
  // Entries stay true when the address changes, if they have one.
  await sql`update users set email = 'later@x.io' where id = ${target}`
  const log = (await open()).getByRole('grid', { name: 'Audit log' })
  await log.getByRole('row', { name: /User created email: new@x\.io, operator$/i }).waitFor()
  await log.getByRole('row', { name: /Sign-in link made later@x\.io$/ }).waitFor()
  await log.getByRole('row', { name: /Signed in by link new@x\.io, with a new password$/ }).waitFor()
})

it('compares the stores by keyboard alone, and shows the result', async () => {
  const page = await open()
  await page.getByText('The stores have not been compared from this page yet.').waitFor()
  await page.getByRole('button', { name: 'Compare now' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('progressbar', { name: 'Comparing' }).waitFor()
  // All tests share the tables of ClickHouse, so it has businesses that this Postgres does not know.
  await page.getByText(/^They (agree|differ)$/).waitFor()
  await page.getByRole('progressbar').waitFor({ state: 'detached' })
  await page.getByText('npm run admin -- verify --repair').waitFor()
}, 120_000)

it('is not for owners', async () => {
  const page = await open('owner@x.io')
  await page.getByText('This page is for operators of the installation').waitFor()
  expect(await page.getByRole('link', { name: 'Operations' }).count()).toBe(0)
})
