/** A business with something to show on every page. */
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { insertKey } from '../../src/businesses/keys.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Dashboard, openDashboard } from './open-dashboard.ts'
import { sendCampaign } from './send-campaign.ts'
import { signIn } from './session-client.ts'

export let dashboard: Dashboard
export let contactId: string
export let segmentId: string
export let campaignId: string
export let templateId: string
export let boardId: string

/** Call this at the top of the file. The exports are set only inside tests. */
export function useFilledBusiness(): void {
  beforeAll(async () => {
    dashboard = await openDashboard()
    const { key } = await insertKey(dashboard.service.sql, dashboard.businessId, 'secret')
    contactId = await sendPurchase(key)
    segmentId = await sendSegment(key)
    const sent = await sendCampaign(dashboard.service, key, { steps: STEPS })
    ;({ campaignId, templateId } = sent)
    boardId = await sendBoard()
    await captureVisits(contactId)
    const suppressions = ['a@x.io', 'b@x.io'].map((address) => ({ channel: 'email', address, reason: 'complaint' }))
    await send(key, 'suppressions', { suppressions })
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const paid = { day, source: 'google', campaign: 'spring', currency: 'EUR' }
    await send(key, 'analytics/spend', {
      spend: [
        { ...paid, channel: 'paid_search', amount: 20 },
        { ...paid, channel: 'email', amount: '3.75' },
      ],
    })
  })

  afterAll(() => dashboard.close())
}

/** Creates what the pages of a business show. Returns the id of its contact. */
async function sendPurchase(key: string): Promise<string> {
  const trigger = { event: 'purchase' }
  const { campaign } = await send<{ campaign: { campaignId: string } }>(key, 'campaigns', { name: 'Welcome', trigger })
  await send(key, `campaigns/${campaign.campaignId}/publish`, {})
  const identity = { email: 'ann@x.io', phone: '+972541234567', platformCustomerId: 'c-1' }
  await send(key, 'sdk/identify', { identity, profile: { name: 'Ann Archer', country: 'FR', city: 'Lyon' } })
  const traits = { plan: 'pro', seats: 3 }
  const tags = ['vip', 'newsletter']
  const event = { event: 'purchase', identity, value: 49.9, currency: 'EUR', traits, tags }
  const { contactId: id } = await send<{ contactId: string }>(key, 'sdk/track', event)
  return id
}

/** From the contact's browser, and from an anonymous one. */
async function captureVisits(visitor: string): Promise<void> {
  const shared = { business_id: dashboard.businessId, kind: 'page_view', referrer: '', active_ms: 0, depth: 0 }
  const values = ['/', '/pricing', '/a-page-with-a-long-name/and-another-part/until-it-does-not-fit'].flatMap(
    (path, n) =>
      [visitor.replaceAll('-', ''), '9'.repeat(32)].map((visitor_id, at) => {
        const occurred_ms = Date.now() - n * 3_600_000 - at
        const url = `https://shop.example${path}${at === 1 ? '?utm_source=newsletter&utm_campaign=spring' : ''}`
        return { ...shared, visitor_id, hit_id: `h${n}`, page_id: `p${n}`, url, occurred_ms, received_ms: occurred_ms }
      }),
  )
  await dashboard.service.clickhouse.insert({ table: 'web_events', values, format: 'JSONEachRow' })
}

/** Waits for its members. */
async function sendSegment(key: string): Promise<string> {
  const rule = {
    all: [
      { attribute: 'country', operator: 'in', value: ['FR', 'DE'] },
      {
        any: [
          { tag: 'vip', operator: 'has' },
          { customField: 'plan', operator: 'equals', value: 'pro' },
        ],
      },
      { event: 'purchase', metric: 'last', operator: 'within_days', value: 30 },
      { not: { attribute: 'revenue', currency: 'EUR', operator: 'less_than', value: 20 } },
    ],
  }
  const { segment } = await send<{ segment: { segmentId: string } }>(key, 'segments', { name: 'Best buyers', rule })
  const { sql, shipped } = dashboard.service
  const isComputed = async () => (await sql`select 1 from segment_rules where state <> 'current'`).length === 0
  await vi.waitUntil(isComputed, { timeout: PATIENCE_MS })
  await shipped()
  return segment.segmentId
}

/** Has a chart of each shape. One of them is not for everybody. */
async function sendBoard(): Promise<string> {
  const marketer = await signIn(dashboard.service, 'marketer@x.io')
  const at = `/b/${dashboard.businessId}/boards`
  const { board } = (await marketer.send('POST', at, { name: 'Every morning' })).data as { board: { id: string } }
  const charts = [
    { title: 'Events', kind: 'series', query: { interval: 'day', compare: 'true' }, days: 7, page: 'analytics?days=7' },
    { title: 'Funnel', kind: 'funnel', query: { steps: '[{"event":"signup"},{"event":"purchase"}]' }, days: 30 },
    { title: 'By plan', kind: 'series', query: { breakdown: 'field:plan' }, days: 7, size: 'full' },
    { title: 'Comes back', kind: 'retention', query: { interval: 'week' }, days: 30 },
    { title: 'Scores', kind: 'engagement', query: {} },
  ]
  for (const chart of charts) {
    const body = { page: 'analytics', size: 'half', ...chart }
    expect(await marketer.send('POST', `${at}/${board.id}/charts`, body)).toMatchObject({ status: 200 })
  }
  return board.id
}

async function send<Data>(key: string, path: string, body: object): Promise<Data> {
  const response = await fetch(`${dashboard.service.url}/api/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return ((await response.json()) as { data: Data }).data
}

/** One of each kind, some inside others. */
const STEPS = [
  {
    type: 'wait_for',
    event: 'purchase',
    timeout: 'P7D',
    steps: [{ type: 'exit' }],
    otherwise: [{ type: 'wait_until', time: '09:00', weekdays: [1, 2, 3, 4, 5] }],
  },
  {
    type: 'branch',
    rule: {
      all: [
        { tag: 'vip', operator: 'has' },
        { attribute: 'country', operator: 'in', value: ['FR', 'DE'] },
      ],
    },
    steps: [
      {
        type: 'split',
        parts: [
          { percent: 12.5, steps: [{ type: 'wait', for: 'P1DT12H' }] },
          { percent: 87.5, steps: [] },
        ],
      },
    ],
    otherwise: [{ type: 'wait', for: 'PT90M' }],
  },
]
