/** Why a campaign did what it did with a contact, over HTTP (campaigns, "Reading"). */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ExplanationData } from '../../src/front-door/routes/campaigns/explain-schema.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
})

const ask = (method: string, path: string, json?: unknown, key = tenant.secretKey) => speak(method, path, { key, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const TRIGGER = { event: 'paid', where: [{ property: 'plan', operator: 'equals', value: 'pro' }] }

async function draft(more: object = {}): Promise<string> {
  const { body } = await ask('POST', '/api/campaigns', { name: 'Buyers', trigger: TRIGGER, ...more })
  return (body.data['campaign'] as { campaignId: string }).campaignId
}
const change = async (id: string, to: string) =>
  expect((await ask('POST', `/api/campaigns/${id}/${to}`)).status).toBe(200)
async function track(event: string, more: object = {}, email = 'ann@x.io'): Promise<string> {
  const { status, body } = await ask('POST', '/api/sdk/track', { event, identity: { email }, ...more })
  expect(status).toBe(200)
  return body.data['contactId'] as string
}
const pro = (more: object = {}) => track('paid', { properties: { plan: 'pro' }, ...more })

interface Explained {
  triggers: { event: string; at: string; entered: boolean; reason: string | null }[]
  enrolments: Record<string, unknown>[]
  sends: Record<string, unknown>[]
}
const explain = async (id: string, contactId: string) =>
  dataOf(
    ExplanationData,
    await ask('GET', `/api/campaigns/${id}/explain?contactId=${contactId}`),
  ) as unknown as Explained
/** Oldest first. */
const outcomes = async (id: string, contactId: string) =>
  (await explain(id, contactId)).triggers.map(({ entered, reason }) => (entered ? 'entered' : reason)).toReversed()

describe('the events of the trigger', () => {
  it('have entered, or say why not', { timeout: PATIENCE_MS }, async () => {
    const id = await draft({ goal: { event: 'left' } })
    const contactId = await pro()
    await change(id, 'publish')
    await track('paid', { properties: { plan: 'free' } })
    await ask('POST', '/api/sdk/track/batch', {
      events: [{ event: 'paid', identity: { email: 'ann@x.io' }, properties: { plan: 'pro' } }],
    })
    await change(id, 'pause')
    await pro()
    await change(id, 'resume')
    await pro()
    await pro()
    await track('left')
    await pro()
    await track('other', { properties: { plan: 'pro' } })
    await change(id, 'archive')
    await pro()
    const expected = [
      'not_published',
      'where',
      'batch',
      'paused',
      'entered',
      'already_active',
      'entered_once',
      'archived',
    ]
    expect(await outcomes(id, contactId)).toEqual(expected)
    await service.shipped()
    expect(await outcomes(id, contactId)).toEqual(expected)
    const { triggers, enrolments, sends } = await explain(id, contactId)
    expect(triggers.every(({ event }) => event === 'paid')).toBe(true)
    expect(enrolments).toMatchObject([{ contactId, state: 'converted', waitsFor: null, nextAt: null }])
    expect(enrolments[0]!['enrolledAt']).toBe(triggers[3]!.at)
    expect(sends).toEqual([])
  })

  it('enter again where the campaign lets them, by their own dates', { timeout: PATIENCE_MS }, async () => {
    const id = await draft({ goal: { event: 'left' }, canEnterAgain: true })
    await change(id, 'publish')
    const contactId = await pro({ occurredAt: '2026-01-01T00:00:00Z' })
    await track('left')
    await pro()
    await pro()
    const { triggers, enrolments } = await explain(id, contactId)
    expect(triggers.map(({ entered, reason }) => [entered, reason])).toEqual([
      [false, 'already_active'],
      [true, null],
      [true, null],
    ])
    expect(triggers[2]!.at).toBe('2026-01-01T00:00:00.000Z')
    expect(enrolments).toMatchObject([{ waitsFor: { type: 'goal', event: 'left' } }, { state: 'converted' }])
  })

  it('are the newest 100', { timeout: PATIENCE_MS }, async () => {
    const id = await draft()
    await change(id, 'publish')
    const one = { event: 'paid', identity: { email: 'ann@x.io' } }
    const dated = (day: number) => ({ ...one, occurredAt: new Date(Date.UTC(2025, 0, day)).toISOString() })
    const events = Array.from({ length: 100 }, (_, index) => dated(index + 2))
    expect((await ask('POST', '/api/sdk/track/batch', { events })).status).toBe(200)
    const contactId = await track('seen')
    const full = await explain(id, contactId)
    expect(full.triggers).toHaveLength(100)
    await ask('POST', '/api/sdk/track/batch', { events: [dated(1)] })
    expect((await explain(id, contactId)).triggers).toEqual(full.triggers)
  })

  it('are none when a segment triggers', { timeout: PATIENCE_MS }, async () => {
    const rule = { event: 'paid', metric: 'count', operator: 'greater_than', value: 0 }
    const { body } = await ask('POST', '/api/segments', { name: 'Buyers', rule })
    const { segmentId } = body.data['segment'] as { segmentId: string }
    const status = async () =>
      ((await ask('GET', `/api/segments/${segmentId}`)).body.data['segment'] as { status: string }).status
    await expect.poll(status, { timeout: PATIENCE_MS }).toBe('ready')
    const id = await draft({ trigger: { segment: segmentId, on: 'enter' } })
    await change(id, 'publish')
    const contactId = await pro()
    expect(await explain(id, contactId)).toMatchObject({ triggers: [], enrolments: [{ waitsFor: null }] })
  })
})

it('shows the message and what was looked at before it', { timeout: PATIENCE_MS }, async () => {
  const variants = { en: { subject: 'Hello', text: 'Hello' } }
  const created = await ask('POST', '/api/templates', { name: 'T', channel: 'email', variants, defaultLanguage: 'en' })
  const { templateId } = created.body.data['template'] as { templateId: string }
  const steps = [
    { id: 'a', type: 'send', channel: 'email', template: templateId },
    { id: 'w', type: 'wait', for: 'P3D' },
  ]
  const id = await draft({ steps, caps: [{ channel: 'email', atMost: 2, days: 7 }], goal: { event: 'left' } })
  await change(id, 'publish')
  const contactId = await track('seen')
  await ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, method: 'form' })
  await pro()
  const settled = async () => (await explain(id, contactId)).enrolments[0]?.['stepId']
  await expect.poll(settled, { timeout: PATIENCE_MS }).toBe('w')
  const { enrolments, sends } = await explain(id, contactId)
  expect(enrolments).toMatchObject([{ stepId: 'w', waitsFor: { type: 'wait', for: 'P3D' } }])
  expect(sends).toMatchObject([
    {
      stepId: 'a',
      state: 'sent',
      to: 'ann@x.io',
      checked: {
        kind: 'marketing',
        consent: { subscribed: true, method: 'form' },
        goal: { event: 'left', lastAt: null },
        caps: [{ channel: 'email', atMost: 2, days: 7, whenReached: 'wait', counted: 0 }],
        isImmediate: true,
        window: null,
      },
    },
  ])
})

describe('the contact', () => {
  it('is required, and of the business', async () => {
    const id = await draft()
    const contactId = await pro()
    const path = `/api/campaigns/${id}/explain`
    expect(code(await ask('GET', path))).toEqual([400, 'invalid_request'])
    for (const unknown of ['x', randomUUID()])
      expect(code(await ask('GET', `${path}?contactId=${unknown}`))).toEqual([404, 'not_found'])
    expect(code(await ask('GET', `/api/campaigns/${randomUUID()}/explain?contactId=${contactId}`))).toEqual([
      404,
      'not_found',
    ])
    const other = await createBusiness(service.sql)
    expect(code(await ask('GET', `${path}?contactId=${contactId}`, undefined, other.secretKey))).toEqual([
      404,
      'not_found',
    ])
  })

  it('that was merged is its survivor, and one that was erased is not found', { timeout: PATIENCE_MS }, async () => {
    const id = await draft()
    await change(id, 'publish')
    const first = await pro()
    const second = await track('paid', { properties: { plan: 'pro' } }, 'bob@x.io')
    await ask('POST', '/api/sdk/identify', { identity: { email: 'ann@x.io', platformCustomerId: '7' } })
    await ask('POST', '/api/sdk/identify', { identity: { email: 'bob@x.io', platformCustomerId: '7' } })
    const explained = await explain(id, second)
    expect(await explain(id, first)).toEqual(explained)
    expect(explained.triggers.map(({ entered }) => entered)).toEqual([true, true])
    expect(new Set(explained.enrolments.map(({ state }) => state))).toEqual(new Set(['active', 'merged']))
    expect((await ask('DELETE', `/api/contacts/${second}`)).status).toBe(200)
    for (const gone of [first, second])
      expect(code(await ask('GET', `/api/campaigns/${id}/explain?contactId=${gone}`))).toEqual([404, 'not_found'])
  })
})
