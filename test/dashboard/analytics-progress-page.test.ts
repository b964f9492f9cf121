// @long
/** A slow chart in a real Chromium: its progress, and a button that cancels it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Locator } from 'playwright-core'
import { markOf } from '../../src/analytics/chart-progress.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { createBusiness } from '../support/stack.ts'
import { type Dashboard, findBarriers, openDashboard } from './open-dashboard.ts'
import { addUser, signIn } from './session-client.ts'

/** More than a chart can read within its time limit while each event counts a million times. */
const EVENTS = 4000
/** When the page first asks for the progress, and how often it asks again. */
const SLOW_MS = 1000
const AGAIN_MS = 500
const ID = '0190a1b2-0000-7000-8000-000000000001'

let dashboard: Dashboard
let businessId: string
beforeAll(async () => {
  dashboard = await openDashboard({}, { ownClickHouse: true })
  const { sql, clickhouse } = dashboard.service
  ;({ businessId } = await createBusiness(sql, { name: 'Bookshop' }))
  await addUser(sql, 'own@x.io', { businessId, role: 'owner' })
  await addUser(sql, 'ann@x.io', { businessId, role: 'read-only' })
  const command = (query: string) => clickhouse.command({ query })
  await command(`insert into events (business_id, contact_id, event_id, event, occurred_ms)
    select '${businessId}', generateUUIDv4(number), generateUUIDv4(number + 1000), 'a', toInt64(${Date.now()}) - number
    from numbers(${EVENTS})`)
})
afterAll(() => dashboard.close())

/** Each event counts a million times, until the returned function is called. */
async function slowDown(): Promise<() => Promise<void>> {
  const { clickhouse } = dashboard.service
  const command = (query: string) => clickhouse.command({ query })
  await command('rename table events to events_aside')
  await command('create view events as select kept.* from events_aside as kept cross join numbers(1000000) as times')
  return async () => {
    await command('drop view events')
    await command('rename table events_aside to events')
  }
}

/** Charts in ClickHouse's list of running queries. */
async function running(): Promise<number> {
  const result = await dashboard.service.clickhouse.query({
    query: `select query_id from system.processes where startsWith(Settings['log_comment'], 'chart ') and is_cancelled = 0`,
    format: 'JSONEachRow',
  })
  return (await result.json()).length
}

it('is listed by its id, for its own business alone', async () => {
  const speedUp = await slowDown()
  const other = await createBusiness(dashboard.service.sql)
  await addUser(dashboard.service.sql, 'eve@x.io', { businessId: other.businessId, role: 'owner' })
  const ann = await signIn(dashboard.service, 'ann@x.io')
  const eve = await signIn(dashboard.service, 'eve@x.io')
  const base = `${dashboard.service.url}/dashboard/api/b/${businessId}/analytics`
  const closing = new AbortController()
  const headers = { Cookie: ann.cookie(), 'Sluice-Chart-Id': ID }
  // One answer has a time limit. Asked repeatedly, the chart runs for as long as the test observes it.
  const ask = async (): Promise<void> => {
    while (!closing.signal.aborted) await fetch(`${base}/series`, { headers, signal: closing.signal }).catch(() => null)
  }
  const asked = ask()
  const progressOf = async (client: typeof ann, business: string, id: string) =>
    (await client.send('GET', `/b/${business}/analytics/progress/${id}`)).data['progress']
  const found = await vi.waitFor(
    async () => {
      const progress = await progressOf(ann, businessId, ID)
      expect(progress).not.toBeNull()
      return progress
    },
    { timeout: PATIENCE_MS },
  )
  const progress = found as { part: number; rows: number; totalRows: number }
  expect(progress.part).toBe(1)
  expect(progress.totalRows).toBeGreaterThanOrEqual(progress.rows)
  expect(await progressOf(ann, businessId, ID.replace('1', '2'))).toBeNull()
  expect(await progressOf(eve, other.businessId, ID)).toBeNull()
  expect((await ann.send('GET', `/b/${businessId}/analytics/progress/all`)).status).toBe(404)
  closing.abort()
  await asked
  await expect.poll(running, { timeout: PATIENCE_MS }).toBe(0)
  expect(await progressOf(ann, businessId, ID)).toBeNull()
  await speedUp()
})

it('is shown past a second, and can be cancelled and computed again', async () => {
  const page = await dashboard.visit(`/dashboard/b/${businessId}/boards`, { email: 'ann@x.io', width: 360 })
  const held = Promise.withResolvers<string>()
  await page.route('**/analytics/series*', (route) => held.resolve(route.request().headers()['sluice-chart-id'] ?? ''))
  await page.goto(`${dashboard.service.url}/dashboard/b/${businessId}/analytics`)
  // Replaces the chart's query, which has a time limit, by one of the same name that runs for as long as needed.
  const stopping = new AbortController()
  const query = dashboard.service.clickhouse
    .query({
      query: 'select count() from numbers(100000000000000) where sipHash64(number) = 0',
      clickhouse_settings: { log_comment: `${markOf(businessId, await held.promise)} 1`, max_threads: 1 },
      abort_signal: stopping.signal,
    })
    .catch(() => null)
  await page.getByText(/^Computing, query 1: /).waitFor()
  const aborted = page.waitForEvent('requestfailed', (request) => request.url().includes('/analytics/series'))
  await page.getByRole('button', { name: 'Cancel' }).click()
  await aborted
  await page.getByText('The computation was cancelled').waitFor()
  await page.getByRole('progressbar').waitFor({ state: 'detached' })
  stopping.abort()
  await query
  await page.unroute('**/analytics/series*')
  await page.getByRole('button', { name: 'Compute again' }).click()
  await page.getByRole('img', { name: 'Events', exact: true }).locator('canvas').waitFor()
  expect(dashboard.complaints).toEqual([])
})

it('covers nothing at 360 pixels that could not be read or used beside it', async () => {
  const page = await dashboard.visit(`/dashboard/b/${businessId}/boards`, {
    email: 'ann@x.io',
    width: 360,
    height: 640,
  })
  await page.route('**/analytics/series*', () => undefined)
  await page.goto(`${dashboard.service.url}/dashboard/b/${businessId}/analytics`)
  await page.getByText('Waiting for the chart').waitFor()
  const panel = page.getByRole('progressbar').locator('xpath=../..')
  const top = async () => (await panel.boundingBox())?.y ?? 0
  expect(await top()).toBeGreaterThan(0)
  const bottomOf = async (element: Locator) => {
    const box = await element.boundingBox()
    return (box?.y ?? 0) + (box?.height ?? 0)
  }
  const cancel = page.getByRole('button', { name: 'Cancel' })
  const usable = await page.locator('main :is(a, button, input, select)').and(page.locator(':visible')).all()
  expect(usable.length).toBeGreaterThan(10)
  for (const element of usable.slice(0, -1)) {
    await element.focus()
    expect(await bottomOf(element)).toBeLessThanOrEqual(await top())
  }
  expect(await usable.at(-1)?.innerText()).toBe(await cancel.innerText())
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  expect(await bottomOf(page.locator('main section').last())).toBeLessThanOrEqual(await top())
  expect(await bottomOf(cancel)).toBeLessThanOrEqual(640)
})

it('is asked for from one second on, and not any more once the chart is there', async () => {
  let asked = 0
  const page = await dashboard.visit(`/dashboard/b/${businessId}/boards`, { email: 'ann@x.io' })
  page.on('request', (request) => {
    if (request.url().includes('/analytics/progress/')) asked += 1
  })
  const { promise: wanted, resolve: answer } = Promise.withResolvers<void>()
  await page.route('**/analytics/series*', async (route) => {
    await wanted
    await route.continue()
  })
  await page.goto(`${dashboard.service.url}/dashboard/b/${businessId}/analytics`)
  await expect.poll(() => asked, { timeout: PATIENCE_MS }).toBeGreaterThan(1)
  answer()
  await page.getByRole('img', { name: 'Events', exact: true }).locator('canvas').waitFor()
  await page.getByRole('progressbar').waitFor({ state: 'detached' })
  const before = asked
  await sleep(3 * AGAIN_MS)
  expect(asked).toBe(before)
  const began = (path: string) =>
    page.evaluate<number>(
      `performance.getEntriesByType('resource').find(({ name }) => name.includes('/analytics/${path}')).startTime`,
    )
  // A browser's timers are not exact.
  expect((await began('progress/')) - (await began('series'))).toBeGreaterThan(0.99 * SLOW_MS)
})

it.each([
  ['en', 360, 'Waiting for the chart', 'Cancel', 'The computation was cancelled'],
  ['de', 1280, 'Wartet auf das Diagramm', 'Abbrechen', 'Die Berechnung wurde abgebrochen'],
  ['he', 1280, 'ממתין לתרשים', 'ביטול', 'החישוב בוטל'],
] as const)('has no barriers in %s', async (language, width, waiting, cancel, cancelled) => {
  const page = await dashboard.visit(`/dashboard/b/${businessId}/boards`, { email: 'ann@x.io', language, width })
  await page.route('**/api/b/*/analytics/retention*', () => undefined)
  await page.goto(`${dashboard.service.url}/dashboard/b/${businessId}/analytics/retention`)
  await page.getByText(waiting).waitFor()
  expect(await findBarriers(page)).toEqual([])
  await page.getByRole('button', { name: cancel }).click()
  await page.getByText(cancelled).waitFor()
  expect(await findBarriers(page)).toEqual([])
})
