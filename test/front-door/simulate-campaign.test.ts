/** `POST /api/campaigns/{id}/simulate` (campaigns, "Reading"). */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { shareOf } from '../../src/rules/campaigns/stable-hash.ts'
import { openService } from '../support/service.ts'
import { type Simulated, type SimulationClient, openClient, send } from './simulation-client.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example' }))
let client: SimulationClient
beforeEach(async () => {
  client = await openClient(service)
})
const ask: SimulationClient['ask'] = (...sent) => client.ask(...sent)
const draft: SimulationClient['draft'] = (...sent) => client.draft(...sent)
const template: SimulationClient['template'] = (...sent) => client.template(...sent)
const simulate: SimulationClient['simulate'] = (...sent) => client.simulate(...sent)

const ADA = { firstName: 'Ada', email: 'Ada@example.com' }

it('answers as the documentation says', async () => {
  const page = readFileSync(new URL('../../docs/campaigns.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/^```json\n(.*?)^```/gms)].map(([, block = '']) => block)
  const body = JSON.parse(blocks.find((block) => block.includes('"from": "2026')) ?? '') as object
  const answer = JSON.parse(blocks.find((block) => block.includes('"endsAt"')) ?? '') as Simulated
  const names = await Promise.all(
    answer.sends.map(({ message }) =>
      template(message!['text']!, 'email', { subject: message!['subject']!.replace('Ada', '{{contact.firstName}}') }),
    ),
  )
  const steps = (blocks.find((block) => block.includes('"steps"')) ?? '').replaceAll(
    /"template": "[^"]*"/g,
    () => `"template": "${names.shift()}"`,
  )
  const campaignId = await draft((JSON.parse(steps) as { steps: object[] }).steps)
  const { sends, ...end } = await simulate(campaignId, body)
  const anyId = { stepId: expect.any(String) as string }
  expect({ sends, ...end }).toEqual({ ...answer, sends: answer.sends.map((one) => ({ ...one, ...anyId })) })
})

describe('a contact that is made up', () => {
  it('is what its fields say, for templates', async () => {
    const fields = [
      'firstName',
      'lastName',
      'email',
      'phone',
      'country',
      'city',
      'language',
      'timezone',
      'stage',
      'revenue',
    ]
    const read = fields.map((field) => `{{contact.${field}}}`).join('|')
    const name = await template(
      `${read}|{{contact.customFields.plan}}|{{event.name}}|{{event.properties.x}}|{{unsubscribeUrl}}`,
    )
    const campaignId = await draft([send('a', name)])
    const contact = {
      name: 'Ada Lovelace',
      email: 'Ada@example.com',
      phone: '+972 50 123 4567',
      country: 'GB',
      city: 'London',
      language: 'en-GB',
      timezone: 'europe/london',
      customFields: { plan: 'pro', old: null },
    }
    const textOf = async (more: object = {}) =>
      (await simulate(campaignId, { contact, ...more })).sends[0]?.message?.['text']
    const own = 'Ada|Lovelace|ada@example.com|+972501234567|GB|London|en-GB|Europe/London|Awareness|0|pro'
    expect(await textOf()).toBe(`${own}|signup||https://shop.example/u/preview`)
    const event = { name: 'purchase', properties: { x: 7 } }
    const decided = own.replace('Awareness', 'Decision')
    expect(await textOf({ event })).toBe(`${decided}|purchase|7|https://shop.example/u/preview`)
  })

  it('has opted in to all that it does not say', async () => {
    const [mail, text] = [await template('x'), await template('x', 'sms')]
    const campaignId = await draft([send('m', mail), send('s', text, { channel: 'sms' })])
    const reasons = async (contact: object) =>
      (await simulate(campaignId, { contact })).sends.map(({ reason }) => reason)
    expect(await reasons({})).toEqual(['no_address', 'no_address'])
    const reachable = { email: 'a@b.c', phone: '+972501234567' }
    expect(await reasons(reachable)).toEqual([null, null])
    expect(await reasons({ ...reachable, subscriptions: { email: false } })).toEqual(['no_opt_in', null])
    expect(await reasons({ ...reachable, subscriptions: { sms: false, email: true } })).toEqual([null, 'no_opt_in'])
    // Contacts can have a phone that could not be parsed.
    expect(await reasons({ email: 'a@b.c', phone: '0501234567' })).toEqual([null, 'no_address'])
  })

  it('goes through branches by what it is', async () => {
    const name = await template('x')
    const rules = [
      { tag: 'vip', operator: 'has' },
      { customField: 'plan', operator: 'equals', value: 'pro' },
      { attribute: 'email', operator: 'ends_with', value: '@example.com' },
      { attribute: 'subscribed', channel: 'sms', operator: 'is_true' },
      { attribute: 'city', operator: 'exists' },
    ]
    await ask('POST', '/api/sdk/identify', { identity: { email: 'x@y.z' }, traits: { plan: 'free' } })
    const campaignId = await draft(
      rules.map((rule, index) => ({ type: 'branch', rule, steps: [send(`s${index}`, name)], otherwise: [] })),
    )
    const stepsOf = async (contact: object) =>
      (await simulate(campaignId, { contact, from: '2026-01-05T12:00:00Z' })).sends.map(({ stepId }) => stepId)
    const most = { ...ADA, tags: ['vip'], customFields: { plan: 'pro' }, city: 'London' }
    expect(await stepsOf(most)).toEqual(['s0', 's1', 's2', 's3', 's4'])
    expect(await stepsOf({ subscriptions: { sms: false } })).toEqual([])
  })

  it('goes by its email, else its phone, at splits', async () => {
    const name = await template('x')
    const parts = ['a', 'b'].map((id) => ({ percent: 50, steps: [send(id, name)] }))
    const campaignId = await draft([{ id: 's', type: 'split', parts }])
    const wayOf = async (contact: object) => (await simulate(campaignId, { contact })).sends[0]?.stepId
    const expected = (key: string) => (shareOf('split', key, 's') < 5000 ? 'a' : 'b')
    for (const n of [1, 2, 3, 4]) expect(await wayOf({ email: `${n}@b.c` })).toBe(expected(`${n}@b.c`))
    expect(await wayOf({ phone: '+972501234567' })).toBe(expected('972501234567'))
  })
})

it('is of a contact, in the time zone of its business unless it has one', async () => {
  await service.sql`update businesses set timezone = 'Asia/Tokyo' where id = ${client.tenant.businessId}`
  const { body } = await ask('POST', '/api/sdk/track', { event: 'seen', identity: { email: 'bob@x.io' } })
  const { contactId } = body.data as { contactId: string }
  const steps = [send('a', await template('x')), { id: 'u', type: 'wait_until', time: '09:00' }]
  const campaignId = await draft(steps)
  const asked = { contactId, from: Date.parse('2026-01-05T12:00:00Z') }
  const { sends, ...end } = await simulate(campaignId, asked)
  expect(sends).toMatchObject([
    { state: 'skipped', reason: 'no_opt_in', message: null, at: '2026-01-05T12:00:00.000Z' },
  ])
  expect(end).toEqual({ state: 'finished', endsAt: '2026-01-06T00:00:00.000Z' })
  await ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, method: 'form' })
  await ask('PATCH', `/api/contacts/${contactId}`, { profile: { timezone: 'Europe/Berlin' } })
  const after = await simulate(campaignId, { ...asked, contactId: contactId.toUpperCase() })
  expect(after).toMatchObject({ sends: [{ state: 'sent' }], endsAt: '2026-01-06T08:00:00.000Z' })
  const tables = ['enrolments', 'due_steps', 'messages', 'logged_messages']
  for (const table of tables)
    expect([
      ...(await service.sql`select from ${service.sql(table)} where business_id = ${client.tenant.businessId}`),
    ]).toEqual([])
})

it('begins now, unless it is said', async () => {
  const campaignId = await draft([{ type: 'exit' }])
  const before = Date.now()
  const { endsAt } = await simulate(campaignId, { contact: {} })
  expect(Date.parse(endsAt!)).toBeGreaterThanOrEqual(before - 1)
  expect(Date.parse(endsAt!)).toBeLessThanOrEqual(Date.now() + 1)
})

it('ends by an answer, or not at all', async () => {
  const campaignId = await draft([])
  const asked = { contact: {}, from: '2026-01-05' }
  expect(await simulate(campaignId, asked)).toEqual({ sends: [], state: 'active', endsAt: null })
  const answers = [{ event: ' paid ', at: '2026-01-06T01:00:00+01:00', properties: { value: 5 } }]
  const converted = { sends: [], state: 'converted', endsAt: '2026-01-06T00:00:00.000Z' }
  expect(await simulate(campaignId, { ...asked, answers })).toEqual(converted)
})

it('shows what a draft lacks, where a message would fail', async () => {
  const steps = [
    send('gone', randomUUID()),
    send('other', await template('x', 'sms')),
    send('hook', await template('x', 'webhook', { text: undefined, body: '{{contact.email}}' }), {
      channel: 'webhook',
    }),
  ]
  const { sends } = await simulate(await draft(steps, { quietHours: null }), { contact: ADA })
  const failed = { state: 'failed', reason: 'template_failed', message: null }
  expect(sends).toMatchObject([
    { ...failed, stepId: 'gone', detail: 'the business has no such template' },
    { ...failed, stepId: 'other', detail: 'the template is for sms' },
    { ...failed, stepId: 'hook', detail: 'body: it is not JSON' },
  ])
})
