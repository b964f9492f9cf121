// @pages
/** Markup and scripts in all names that callers and people can choose are shown as text on every page. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { PAGE_PATHS } from '../../src/dashboard/src/pages.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

const HOSTILE = `"'><img src=x onerror="document.title='run'"><script>document.title='run'</script>{{1}}`
/** Names of events and tags have at most 64 characters. */
const SHORT = '<img src=x onerror="document.title=\'run\'">'

let dashboard: Dashboard
let business: TestBusiness
let contactId: string
let segmentId: string
let campaignId: string
let templateId: string
const boardId = randomUUID()
beforeAll(async () => {
  dashboard = await openDashboard()
  const { sql, clickhouse, shipped } = dashboard.service
  business = await createBusiness(sql, { name: HOSTILE })
  await addUser(sql, 'owner@x.io', { businessId: business.businessId, role: 'owner' })
  await sql`update users set name = ${HOSTILE}`
  contactId = await sendPerson()
  await addRows()
  segmentId = await sendSegment()
  const hit = { business_id: business.businessId, visitor_id: 'c'.repeat(32), hit_id: 'h', page_id: 'p', active_ms: 0 }
  const urls = { url: `https://shop.example/${HOSTILE}`, referrer: `javascript:alert(1)//${HOSTILE}` }
  const values = [{ ...hit, ...urls, kind: 'page_view', occurred_ms: Date.now(), received_ms: Date.now() }]
  await clickhouse.insert({ table: 'web_events', values, format: 'JSONEachRow' })
  await shipped()
})
afterAll(() => dashboard.close())

async function sendPerson(): Promise<string> {
  const identity = { email: 'eve@x.io', platformCustomerId: HOSTILE }
  const variants = { en: { text: SHORT } }
  const { template } = await send('POST', 'templates', {
    name: HOSTILE,
    channel: 'sms',
    variants,
    defaultLanguage: 'en',
  })
  ;({ templateId } = template as { templateId: string })
  const steps = [{ type: 'wait_for', event: SHORT, timeout: 'P1D' }]
  const { campaign } = await send('POST', 'campaigns', { name: HOSTILE, trigger: { event: SHORT }, steps })
  ;({ campaignId } = campaign as { campaignId: string })
  await send('POST', `campaigns/${campaignId}/publish`, {})
  const traits = { plan: HOSTILE }
  await send('POST', 'sdk/track', { identity, event: SHORT, properties: { [SHORT]: HOSTILE }, traits, tags: [SHORT] })
  await send('POST', 'sdk/track', { identity, event: 'refused', value: HOSTILE }, 400)
  const profile = { name: SHORT, city: SHORT }
  const made = await send('POST', 'sdk/identify', { identity, profile, visitorId: 'c'.repeat(32) })
  const id = String(made['contactId'])
  await send('PUT', `contacts/${id}/subscriptions`, { email: true, method: SHORT })
  return id
}

async function send(method: string, path: string, body: object, status = 200): Promise<Record<string, unknown>> {
  const response = await fetch(`${dashboard.service.url}/api/${path}`, {
    method,
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { data?: Record<string, unknown> }
  expect([path, response.status, answer]).toMatchObject([path, status, {}])
  return answer.data ?? {}
}

async function sendSegment(): Promise<string> {
  const rule = {
    any: [
      { tag: SHORT, operator: 'has' },
      { customField: 'plan', operator: 'equals', value: HOSTILE },
    ],
  }
  const { segment } = await send('POST', 'segments', { name: HOSTILE, description: HOSTILE, rule })
  return (segment as { segmentId: string }).segmentId
}

/** Rows that no API call creates. */
async function addRows(): Promise<void> {
  const { sql } = dashboard.service
  const { businessId } = business
  const destination = randomUUID()
  await sql`insert into destinations (business_id, id, kind, name, types, click_ids, settings, secret)
    values (${businessId}, ${destination}, 'webhook', ${HOSTILE}, '{purchase}', '{}', ${JSON.stringify({ url: `https://x.io/${SHORT}` })}::text::jsonb, 's')`
  await sql`insert into deliveries (business_id, id, destination_id, contact_id, event_id, event, type, occurred_at, clicks, state, attempts, last_error, next_attempt_at, settled_at)
    values (${businessId}, ${randomUUID()}, ${destination}, ${contactId}, ${randomUUID()}, ${SHORT}, 'purchase', 1, '{}', 'dead', 1, ${HOSTILE}, now(), now())`
  await sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
    values (${randomUUID()}, ${businessId}, '0', '1-1', 'track', ${HOSTILE}, ${HOSTILE})`
  await sql`insert into saved_views (business_id, id, name, filters)
    values (${businessId}, ${randomUUID()}, ${HOSTILE}, ${JSON.stringify({ tag: SHORT })}::text::jsonb)`
  await sql`update custom_fields set description = ${HOSTILE} where business_id = ${businessId}`
  await sql`insert into saved_queries (business_id, id, name, statement, parameters)
    values (${businessId}, ${randomUUID()}, ${HOSTILE}, 'select 1', '{}')`
  const chart = {
    id: randomUUID(),
    title: HOSTILE,
    kind: 'series',
    query: {},
    days: 30,
    page: 'analytics',
    size: 'half',
    needs: 'lists:read',
  }
  await sql`insert into boards (business_id, id, name, place, charts)
    values (${businessId}, ${boardId}, ${HOSTILE}, 0, ${JSON.stringify([chart])}::text::jsonb)`
  await sql`insert into merge_log (business_id, id, action, contact_id, losing_id, evidence, recorded_at)
    values (${businessId}, ${randomUUID()}, 'merged', ${contactId}, ${randomUUID()}, ${JSON.stringify([{ kind: 'email', value: HOSTILE }])}::text::jsonb, 1)`
  for (const id of [businessId, null]) {
    await sql`insert into audit_log (business_id, actor_kind, actor_id, actor_name, action, target, details)
      values (${id}, 'command', ${HOSTILE}, ${HOSTILE}, ${SHORT}, ${HOSTILE}, ${JSON.stringify({ [HOSTILE]: HOSTILE })}::text::jsonb)`
  }
}

/** Pages of a business or of the installation, as an operator sees them. */
const PATHS = PAGE_PATHS.filter((path) => path.includes('$businessId') || path === '/dashboard/operations')
const fill = (path: string) =>
  path
    .replace('$businessId', business.businessId)
    .replace('$contactId', contactId)
    .replace('$segmentId', segmentId)
    .replace('$campaignId', campaignId)
    .replace('$templateId', templateId)
    .replace('$boardId', boardId)
/** These show nothing that callers sent, or only in a field. */
const WITHOUT = [
  'settings/keys',
  'settings/business',
  'sql',
  'analytics',
  'analytics/funnel',
  'analytics/retention',
  'analytics/revenue',
  'analytics/attribution',
  'analytics/lifecycle',
  'analytics/stages',
  'imports',
  'segments/new',
  'campaigns/new',
  'templates/new',
  'settings/channels',
  'settings/messages',
  'settings/senders',
  'settings/suppressions',
]

it.each(PATHS)('%s shows them as text', async (path) => {
  const page = await dashboard.visit(fill(path), { email: 'operator@x.io' })
  await settle(page, true)
  const isNamed = !WITHOUT.some((end) => path.endsWith(end))
  if (isNamed) await page.locator('main').getByText('<img src=x', { exact: false }).first().waitFor()
  await expectText(page)
  await openAll(page)
  await expectText(page)
})

/** Opens all folded parts, and the first row of each list. */
async function openAll(page: Page): Promise<void> {
  // An opened one no longer matches.
  const folded = page.locator('main details:not([open]) > summary').and(page.locator(':visible'))
  for (let left = await folded.count(); left > 0; left -= 1) await folded.first().click()
  if ((await page.getByRole('grid').count()) === 0) return
  const row = page.getByRole('grid').first().getByRole('row').nth(1)
  if ((await row.count()) === 0) return
  await row.click()
  await settle(page, true)
}

async function expectText(page: Page): Promise<void> {
  expect(await page.locator('img[src=x], main script').count()).toBe(0)
  expect(await page.title()).not.toBe('run')
  expect(await page.locator('a[href^="javascript:" i]').count()).toBe(0)
  expect(dashboard.complaints.splice(0)).toEqual([])
}
