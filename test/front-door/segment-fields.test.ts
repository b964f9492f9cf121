/** The fields that a rule can read, as a picker offers them (segments, "Endpoints"). */
import { beforeEach, expect, test } from 'vitest'
import { SegmentFieldsData } from '../../src/front-door/routes/segments/schemas.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { describeField } from '../../src/contacts/read/list-custom-fields.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let tenant: TestBusiness
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
})

const ask = (method: string, path: string, json?: unknown, url = service.url) =>
  speakTo(url)(method, path, { key: tenant.secretKey, json })
const track = (json: object) =>
  ask('POST', '/api/sdk/track', { event: 'visit', identity: { email: 'ann@x.io' }, ...json })

interface Field {
  path: string
  label: string
  type: string
  operators: string[]
  condition: Record<string, string>
}
async function read(query = '', url = service.url): Promise<Record<string, Field[]>> {
  const answer = await ask('GET', `/api/segment-fields?query=${encodeURIComponent(query)}`, undefined, url)
  const { groups } = dataOf(SegmentFieldsData, answer) as { groups: { group: string; fields: Field[] }[] }
  return Object.fromEntries(groups.map(({ group, fields }) => [group, fields]))
}
const pathsOf = (fields: Field[] | undefined) => fields?.map(({ path }) => path)

test('before the first event there is no group of events, and after it there is at once', async () => {
  expect(Object.keys(await read())).toEqual(['Attributes', 'Custom fields', 'Tags', 'Segments'])
  await ask('POST', '/api/sdk/identify', { identity: { email: 'ann@x.io' }, traits: { plan: 'pro' } })
  expect(Object.keys(await read())).not.toContain('Events')
  await track({ tags: ['vip'] })
  const { Events: events, Tags: tags, 'Custom fields': fields } = await read()
  expect(events).toEqual([
    {
      path: 'event.visit',
      label: 'visit: last time',
      type: 'date',
      operators: ['exists', 'not_exists', 'within_days', 'older_than_days', 'before', 'after'],
      condition: { event: 'visit', metric: 'last' },
    },
    expect.objectContaining({
      path: 'event.visit.count',
      type: 'number',
      condition: { event: 'visit', metric: 'count' },
    }),
  ])
  expect(tags).toMatchObject([
    { path: 'tag.vip', type: 'tag', operators: ['has', 'has_not'], condition: { tag: 'vip' } },
  ])
  expect(fields).toMatchObject([{ path: 'customField.plan', type: 'text', condition: { customField: 'plan' } }])
})

test('every field that is offered begins a rule that is accepted', async () => {
  await track({ traits: { seats: 5, since: '2026-01-01', plan: 'pro', active: true }, tags: ['vip', 'a.b'] })
  await track({ event: 'order.count' })
  const named = await ask('POST', '/api/segments', { name: 'Inner', rule: { tag: 'vip', operator: 'has' } })
  const { segmentId } = named.body.data['segment'] as { segmentId: string }
  const groups = await read()
  expect(pathsOf(groups['Segments'])).toEqual([`segment.${segmentId}`])
  expect(pathsOf(groups['Events'])).toEqual([
    'event["order.count"]',
    'event["order.count"].count',
    'event.visit',
    'event.visit.count',
  ])
  expect(pathsOf(groups['Tags'])).toEqual(['tag["a.b"]', 'tag.vip'])
  const values: Record<string, Record<string, unknown>> = {
    date: { within_days: 1, older_than_days: 1, within_next_days: 1, before: '2026-01-01', after: '2026-01-01' },
    number: { between: [1, 2] },
    text: { in: ['x'] },
    stage: { in: ['Decision'] },
  }
  const plain: Record<string, unknown> = { number: 1, text: 'x', stage: 'Decision' }
  for (const { path, type, operators, condition } of Object.values(groups).flat()) {
    const any = operators.map((operator) => {
      const value = values[type]?.[operator] ?? plain[type]
      const takesNone = operator.endsWith('exists') || value === undefined
      return { ...condition, operator, ...(!takesNone && { value }) }
    })
    const answer = await ask('POST', '/api/segments', { name: path, rule: { any } })
    expect([path, answer.status, answer.body.error?.issues]).toEqual([path, 200, undefined])
  }
})

test('at most 500 of a group are offered, and a query finds the others', async () => {
  const tags = Array.from({ length: 600 }, (_, n) => `Tag ${String(n).padStart(3, '0')}`)
  await track({ tags: tags.slice(0, 50) })
  for (let from = 50; from < 600; from += 50) await track({ tags: tags.slice(from, from + 50) })
  await service.shipped()
  expect((await read())['Tags']).toHaveLength(500)
  expect((await read('tAG 59'))['Tags']?.map(({ label }) => label)).toEqual(tags.slice(590))
  const none = await read('no such thing')
  expect(none).toEqual({ Attributes: [], 'Custom fields': [], Tags: [], Events: [], Segments: [] })
  expect(pathsOf((await read('subscr'))['Attributes'])).toEqual(
    ['email', 'sms', 'whatsapp', 'push'].map((channel) => `attribute.subscribed.${channel}`),
  )
  const refused = await ask('GET', `/api/segment-fields?query=${'x'.repeat(257)}`)
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request'])
})

test('names of events of contacts that are not the newest come from ClickHouse', async () => {
  await track({ event: 'once' })
  await service.shipped()
  await service.sql`
    insert into contacts (business_id, id, created_at, keyed)
    select ${tenant.businessId}, gen_random_uuid(), 4000000000000 + n, true from generate_series(1, 500) as n`
  expect(pathsOf((await read())['Events'])).toEqual(['event.once', 'event.once.count'])
})

test('a hidden field is not offered', async () => {
  await track({ traits: { plan: 'pro', note: 'x' } })
  const actor = { kind: 'command', id: 'test', name: 'test' } as const
  await describeField(service.sql, { businessId: tenant.businessId, actor }, 'note', { isHidden: true })
  expect(pathsOf((await read())['Custom fields'])).toEqual(['customField.plan'])
})

test('while ClickHouse is away, those of the newest contacts are offered', async () => {
  await track({ tags: ['vip'] })
  const lonely = await runFrontDoor({ ...service.config, clickhouseUrl: 'http://127.0.0.1:9/none' })
  const { Events: events, Tags: tags } = await read('', lonely.url)
  await lonely.close()
  expect([pathsOf(events), pathsOf(tags)]).toEqual([['event.visit', 'event.visit.count'], ['tag.vip']])
})
