/** Segments in the dashboard's API: the same endpoints as with a key, by role. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ROLES } from '../../src/accounts/rights.ts'
import { SegmentData, SegmentsData } from '../../src/front-door/routes/segments/schemas.ts'
import { expectShape } from '../front-door/reply-shape.ts'
import { speakTo } from '../front-door/http-client.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let business: string
let secretKey: string
const clients = new Map<string, SessionClient>()
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ businessId: business, secretKey } = await createBusiness(service.sql))
  for (const role of ROLES) {
    const email = `${role}-${business}@x.io`
    await addUser(service.sql, email, { businessId: business, role })
    clients.set(role, await signIn(service, email))
  }
})

const as = (role: (typeof ROLES)[number]) => (method: string, path: string, json?: unknown) =>
  clients.get(role)!.send(method, `/b/${business}${path}`, json)

const VIP = { tag: 'vip', operator: 'has' }

async function create(rule: object): Promise<string> {
  const { data } = await as('marketer')('POST', '/segments', { name: 'A segment', rule })
  expectShape(SegmentData, data)
  return (data['segment'] as { segmentId: string }).segmentId
}

test('marketers edit them, analysts see whom they are about, and the others lists and charts', async () => {
  const segmentId = await create(VIP)
  const path = `/segments/${segmentId}`
  const contact = await speakTo(service.url)('POST', '/api/sdk/track', {
    key: secretKey,
    json: { event: 'e', identity: { email: 'ann@x.io' } },
  })
  const explain = `${path}/explain?contactId=${String(contact.body.data['contactId'])}`
  const allowed = async (role: (typeof ROLES)[number]) => {
    const asked = {
      list: await as(role)('GET', '/segments'),
      one: await as(role)('GET', path),
      members: await as(role)('GET', `${path}/members`),
      changes: await as(role)('GET', `${path}/changes`),
      history: await as(role)('GET', `${path}/history`),
      fields: await as(role)('GET', '/segment-fields'),
      explain: await as(role)('GET', explain),
      preview: await as(role)('POST', '/segments/preview', {}),
      create: await as(role)('POST', '/segments', {}),
      change: await as(role)('PATCH', path, {}),
      remove: await as(role)('DELETE', `/segments/${crypto.randomUUID()}`),
    }
    return Object.entries(asked)
      .filter(([, { code }]) => code !== 'not_permitted')
      .map(([name]) => name)
  }
  const lists = ['list', 'one', 'members', 'changes', 'history', 'fields']
  expect(await allowed('read-only')).toEqual(lists)
  expect(await allowed('analyst')).toEqual([...lists, 'explain', 'preview'])
  for (const role of ['marketer', 'owner'] as const)
    expect(await allowed(role)).toEqual([...lists, 'explain', 'preview', 'create', 'change', 'remove'])
  expectShape(SegmentsData, (await as('read-only')('GET', '/segments')).data)
})

test('who may not see addresses does not find them in a rule either', async () => {
  const rule = {
    any: [
      { attribute: 'email', operator: 'in', value: ['ann@x.io', 'bob@x.io'] },
      { not: { customField: 'note', operator: 'contains', value: 'ann' } },
      { customField: 'seats', operator: 'between', value: [1, 5] },
      { attribute: 'country', operator: 'equals', value: 'DE' },
      {
        event: 'order',
        metric: 'count',
        withinDays: 7,
        where: [{ property: 'to', operator: 'equals', value: 'ann' }],
        operator: 'equals',
        value: 1,
      },
    ],
  }
  const segmentId = await create(rule)
  const ruleFor = async (role: (typeof ROLES)[number]) =>
    ((await as(role)('GET', `/segments/${segmentId}`)).data['segment'] as { rule: object }).rule
  expect(await ruleFor('analyst')).toEqual(rule)
  const hidden = JSON.stringify(await ruleFor('read-only'))
  for (const word of ['ann', 'bob']) expect(hidden).not.toContain(word)
  expect(JSON.parse(hidden)).toMatchObject({
    any: [{ attribute: 'email', value: ['…', '…'] }, { not: { value: '…' } }, { value: [1, 5] }, { value: 'DE' }, {}],
  })
})

test('changes are in the audit log with who made them', async () => {
  const segmentId = await create(VIP)
  await as('marketer')('PATCH', `/segments/${segmentId}`, { description: 'Good ones' })
  await as('marketer')('DELETE', `/segments/${segmentId}`)
  const entries = (await as('owner')('GET', '/audit')).data['entries'] as object[]
  const actorName = `marketer-${business}@x.io`
  expect(entries.slice(0, 3)).toMatchObject([
    { action: 'segment.delete', target: segmentId, actorName },
    { action: 'segment.update', target: segmentId, actorName, details: { fields: ['description'] } },
    { action: 'segment.create', target: segmentId, actorName },
  ])
})

test('the list of contacts is counted, filtered and saved by segment', async () => {
  const segmentId = await create(VIP)
  for (const [email, tags] of [
    ['ann@x.io', ['vip']],
    ['bob@x.io', []],
  ] as const) {
    const json = { event: 'e', identity: { email }, tags }
    await speakTo(service.url)('POST', '/api/sdk/track', { key: secretKey, json })
  }
  await expect
    .poll(async () => (await as('read-only')('GET', `/segments/${segmentId}`)).data['segment'] as object)
    .toMatchObject({ status: 'ready', memberCount: 1 })
  const filter = `segment=${segmentId}`
  expect((await as('read-only')('GET', `/contacts/count?${filter}`)).data).toEqual({ count: 1, kind: 'exact' })
  expect((await as('analyst')('GET', `/contacts/count?${filter}&query=bob`)).data).toEqual({ count: 0, kind: 'exact' })
  const listed = (await as('analyst')('GET', `/contacts?${filter}`)).data['contacts']
  expect(listed).toMatchObject([{ identities: { email: ['ann@x.io'] } }])
  for (const rest of ['', '/count'])
    expect(await as('analyst')('GET', `/contacts${rest}?segment=${crypto.randomUUID()}`)).toMatchObject({
      code: 'not_found',
    })
  const view = { name: 'VIPs', filters: { segment: segmentId } }
  expect((await as('marketer')('POST', '/contact-views', view)).data['view']).toMatchObject(view)
})

test('another default currency computes what depends on it anew', async () => {
  const spent = await create({ attribute: 'revenue', operator: 'greater_than', value: 10 })
  const apart = await create(VIP)
  const rulesOf = async (id: string) => {
    const rows = await service.sql<{ rule: unknown }[]>`
      select rule from segment_rules where business_id = ${business} and segment_id = ${id} order by no`
    return rows.map(({ rule }) => JSON.stringify(rule))
  }
  await as('owner')('PATCH', '/business', { currency: 'EUR' })
  expect((await rulesOf(spent)).at(-1)).toContain('EUR')
  expect(await rulesOf(apart)).toHaveLength(1)
})
