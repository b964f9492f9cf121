/** Reasons to refuse a simulation (campaigns, "Reading"). */
import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { readSimulation } from '../../src/front-door/routes/campaigns/read-simulation.ts'
import { openService } from '../support/service.ts'
import { type SimulationClient, openClient } from './simulation-client.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://shop.example' }))
let client: SimulationClient
beforeEach(async () => {
  client = await openClient(service)
})
const ask: SimulationClient['ask'] = (...sent) => client.ask(...sent)
const draft: SimulationClient['draft'] = (...sent) => client.draft(...sent)
const post: SimulationClient['post'] = (...sent) => client.post(...sent)
const pathsOf = async (...sent: Parameters<SimulationClient['issuesOf']>) =>
  (await client.issuesOf(...sent))?.map(({ path }) => path)

it.each<[string, object, string]>([
  [
    'names a segment that there is not',
    { segment: randomUUID(), operator: 'is_member' },
    'steps[0].steps[0].rule.segment',
  ],
])('refuses a draft with a branch that %s', async (_, rule, path) => {
  const branch = { type: 'branch', rule }
  const campaignId = await draft([{ type: 'wait_for', event: 'e', timeout: 'P1D', steps: [branch] }])
  expect(await pathsOf(campaignId, { contact: {} })).toEqual([path])
})

it('keeps the codes of what it says of a made-up contact', () => {
  const read = () => readSimulation({ contact: { email: 'ada' } }, { country: null, fields: new Map(), now: 0 })
  const issue = {
    path: 'contact.email',
    message: 'contact.email must have one @ with something on both sides, and no white space',
    code: 'email_parts',
  }
  expect(read).toThrow(expect.objectContaining({ issues: [issue] }) as Error)
})

const FROM = { from: '2026-01-05T00:00:00Z' }
const answered = (at: unknown) => ({
  ...FROM,
  contact: {},
  answers: [
    { event: 'e', at: '2026-01-05' },
    { event: 'e', at },
  ],
})

it.each<[string, object, string[]]>([
  ['neither a contact nor an id', {}, ['']],
  ['both a contact and an id', { contactId: randomUUID(), contact: {} }, ['']],
  ['an instant that is none', { contact: {}, from: '2026-02-30' }, ['from']],
  ['1969', { contact: {}, from: -1 }, ['from']],
  ['2100', { contact: {}, from: '2100-01-01' }, ['from']],
  ['an answer before the beginning', answered('2026-01-04T23:59:59.999Z'), ['answers.1.at']],
  ['an answer after the year 9999', answered(253_402_300_800_000), ['answers.1.at']],
  ['an answer without a date', answered(undefined), ['answers.1.at']],
  ['an event without a name', { contact: {}, event: { name: ' ' } }, ['event.name']],
  ['an event that cannot be', { contact: {}, event: { name: 'a\0' } }, ['event.name']],
  ['an email that is none', { contact: { email: 'ada' } }, ['contact.email']],
  ['a placeholder', { contact: { email: 'null@null' } }, ['contact.email']],
  ['a phone that is too long', { contact: { phone: '1'.repeat(65) } }, ['contact.phone']],
  [
    'an unknown zone and language',
    { contact: { timezone: 'Mars', language: '!' } },
    ['contact.language', 'contact.timezone'],
  ],
  ['a name that is too long', { contact: { firstName: 'n'.repeat(257) } }, ['contact.firstName']],
  ['a tag that is too long', { contact: { tags: ['t'.repeat(65)] } }, ['contact.tags.0']],
  ['a tag that cannot be', { contact: { tags: ['ok', 'a\0'] } }, ['contact.tags.1']],
  ['a field that cannot be', { contact: { customFields: { Plan: 1 } } }, ['contact.customFields.Plan']],
  ['a field with a list', { contact: { customFields: { plan: [] } } }, ['contact.customFields.plan']],
  [
    'a subscription that is not a boolean',
    { contact: { subscriptions: { email: 'yes' } } },
    ['contact.subscriptions.email'],
  ],
])('refuses %s', async (_, body, paths) => {
  expect(await pathsOf(await draft([]), body)).toEqual(paths)
})

it('refuses a value that its field does not take', async () => {
  await ask('POST', '/api/sdk/identify', { identity: { email: 'x@y.z' }, traits: { seats: 5 } })
  const campaignId = await draft([])
  expect(await client.issuesOf(campaignId, { contact: { customFields: { seats: 'many' } } })).toEqual([
    { path: 'contact.customFields.seats', message: 'contact.customFields.seats is of the type Number' },
  ])
})

const repeat = (many: number) => Array.from({ length: many }, (_, index) => index)
it.each<[string, number, (many: number) => object, string]>([
  [
    'answers',
    100,
    (many) => ({ contact: {}, answers: repeat(many).map((at) => ({ event: 'e', at: 1e12 + at })), from: 1e12 }),
    'answers',
  ],
  ['tags', 1000, (many) => ({ contact: { tags: repeat(many).map((n) => `t${n}`) } }), 'contact.tags'],
  [
    'custom fields',
    500,
    (many) => ({ contact: { customFields: Object.fromEntries(repeat(many).map((n) => [`f${n}`, n])) } }),
    'contact.customFields',
  ],
])('takes as many %s as it may, and no more', async (_, most, bodyOf, path) => {
  const campaignId = await draft([])
  expect((await post(campaignId, bodyOf(most))).status).toBe(200)
  expect(await pathsOf(campaignId, bodyOf(most + 1))).toEqual([path])
})

it('takes instants from 1970 to 2099', async () => {
  const campaignId = await draft([{ type: 'wait', for: 'P365D' }])
  for (const [from, year] of [
    [0, '1971'],
    ['2099-12-31T23:59:59.999Z', '2100'],
  ] as const)
    expect((await client.simulate(campaignId, { contact: {}, from })).endsAt).toMatch(year)
})

it.each(['x', randomUUID()])('is 404 for the contact %s, and for such a campaign', async (id) => {
  const campaignId = await draft([])
  for (const { status, body } of [await post(campaignId, { contactId: id }), await post(id, { contact: {} })])
    expect([status, body.error?.code]).toEqual([404, 'not_found'])
})
