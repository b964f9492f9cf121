/** Segments over HTTP, through the whole service (segments, "Endpoints"). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  ChangesData,
  DeletedSegmentData,
  ExplanationData,
  HistoryData,
  MembersData,
  PreviewData,
  SegmentData,
  SegmentsData,
} from '../../src/front-door/routes/segments/schemas.ts'
import { ContactData, ContactListData } from '../../src/front-door/routes/contacts/reply-schemas.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { anyText, dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { country: 'IL' })
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const VIP = { tag: 'vip', operator: 'has' }
const BOUGHT = { event: 'purchase', metric: 'count', operator: 'greater_than_or_equal', value: 1 }

interface Shown {
  segmentId: string
  name: string
  description: string | null
  rule: object
  status: string
  progress: number
  memberCount: number
  version: number
  warnings: { path: string; message: string }[]
  updatedAt: string
}
const shown = (answer: Answer) => dataOf(SegmentData, answer)['segment'] as Shown
const create = async (rule: object, name = 'A segment') => shown(await ask('POST', '/api/segments', { name, rule }))
const read = async (id: string) => shown(await ask('GET', `/api/segments/${id}`))

async function untilReady(id: string): Promise<Shown> {
  for (;;) {
    const segment = await read(id)
    if (segment.status === 'ready') return segment
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function track(json: object): Promise<string> {
  const { status, body } = await ask('POST', '/api/sdk/track', { event: 'visit', ...json })
  expect(status).toBe(200)
  return String(body.data['contactId'])
}

interface Listed {
  members: { contactId: string; enteredAt: string; cause: string }[]
  nextCursor: string | null
}
const list = async (id: string, query = '') =>
  dataOf(MembersData, await ask('GET', `/api/segments/${id}/members?${query}`)) as unknown as Listed
const memberIds = async (id: string) => (await list(id)).members.map(({ contactId }) => contactId)

describe('a segment', () => {
  test('is created, read, listed, changed and deleted', async () => {
    const sent = { name: '  VIPs ', description: 'The best', rule: { operator: 'has', tag: 'vip' } }
    const created = shown(await ask('POST', '/api/segments', sent))
    expect(created).toMatchObject({ name: 'VIPs', description: 'The best', rule: VIP, version: 1, warnings: [] })
    expect(Object.keys(created.rule)).toEqual(['tag', 'operator'])
    const { segmentId } = created
    expect(await untilReady(segmentId)).toMatchObject({ segmentId, status: 'ready', progress: 1, memberCount: 0 })
    const second = await create(BOUGHT, 'Buyers')
    const { segments } = dataOf(SegmentsData, await ask('GET', '/api/segments')) as { segments: Shown[] }
    expect(segments.map(({ name }) => name)).toEqual(['VIPs', 'Buyers'])

    const patch = { name: 'Very important', description: '', rule: BOUGHT }
    const changed = shown(await ask('PATCH', `/api/segments/${segmentId}`, patch))
    expect(changed).toMatchObject({ name: 'Very important', description: null, rule: BOUGHT, version: 2 })
    const gone = await ask('DELETE', `/api/segments/${second.segmentId}`)
    expect(dataOf(DeletedSegmentData, gone)).toEqual({ segmentId: second.segmentId })
    for (const method of ['GET', 'DELETE', 'PATCH'])
      expect(
        code(await ask(method, `/api/segments/${second.segmentId}`, method === 'PATCH' ? { name: 'x' } : undefined)),
      ).toEqual([404, 'not_found'])
    for (const rest of ['/members', '/explain?contactId=x', '/members?at=2026-01-01', '/changes', '/history'])
      expect(code(await ask('GET', `/api/segments/${second.segmentId}${rest}`))).toEqual([404, 'not_found'])
  })

  test('has the members that its rule says, who come and go with their events', async () => {
    const before = await track({ identity: { email: 'before@x.io' }, tags: ['vip'] })
    const { segmentId, status } = await create(VIP)
    expect(status).toBe('computing')
    expect(await untilReady(segmentId)).toMatchObject({ memberCount: 1 })
    expect(await memberIds(segmentId)).toEqual([before])
    const after = await track({ identity: { email: 'after@x.io' }, tags: ['vip'] })
    expect(await memberIds(segmentId)).toEqual([after, before])
    expect(await read(segmentId)).toMatchObject({ memberCount: 2 })
    expect((await list(segmentId)).members.map(({ cause }) => cause)).toEqual(['live', 'rule'])

    const { contact } = dataOf(ContactData, await ask('GET', `/api/contacts/${after}`)) as {
      contact: { segments: object[] }
    }
    expect(contact.segments).toEqual([{ segmentId, name: 'A segment', enteredAt: anyText }])
    const listed = dataOf(ContactListData, await ask('GET', `/api/contacts?segment=${segmentId}&query=after`))
    expect(listed['contacts']).toMatchObject([{ contactId: after }])
    await ask('PATCH', `/api/contacts/${after}`, { removeTags: ['vip'] })
    expect(await memberIds(segmentId)).toEqual([before])
    const [left] = (dataOf(ContactListData, await ask('GET', `/api/contacts?segment=${segmentId}`))['contacts'] ??
      []) as object[]
    expect(left).toMatchObject({ contactId: before })
    await ask('DELETE', `/api/contacts/${before}`)
    expect(await read(segmentId)).toMatchObject({ memberCount: 0 })
  })

  test('keeps its members while another rule is computed, and those in both since they entered', async () => {
    const { segmentId } = await create(VIP)
    await untilReady(segmentId)
    const both = await track({ identity: { email: 'both@x.io' }, tags: ['vip'], event: 'purchase' })
    const vip = await track({ identity: { email: 'vip@x.io' }, tags: ['vip'] })
    const buyer = await track({ identity: { email: 'buyer@x.io' }, event: 'purchase' })
    const { members } = await list(segmentId)
    const changed = shown(await ask('PATCH', `/api/segments/${segmentId}`, { rule: BOUGHT }))
    expect(changed).toMatchObject({ status: 'computing', memberCount: 2, version: 2 })
    expect(await untilReady(segmentId)).toMatchObject({ memberCount: 2 })
    const now = await list(segmentId)
    expect(now.members).toEqual([
      { contactId: buyer, enteredAt: anyText, cause: 'rule' },
      members.find(({ contactId }) => contactId === both),
    ])
    expect(now.members.map(({ contactId }) => contactId)).not.toContain(vip)
  })

  test('that is given an equal rule is not computed again, whatever the order of its words', async () => {
    const rule = { all: [{ event: 'purchase', metric: 'last', operator: 'within_days', value: 30 }, VIP] }
    const { segmentId } = await create(rule)
    const { updatedAt, ...before } = await untilReady(segmentId)
    const same = { all: [{ value: 30, operator: 'within_days', metric: 'last', event: 'purchase' }, VIP] }
    expect(shown(await ask('PATCH', `/api/segments/${segmentId}`, { rule: same }))).toEqual({ updatedAt, ...before })
    expect(shown(await ask('PATCH', `/api/segments/${segmentId}`, { name: 'A segment', rule: same }))).toEqual({
      updatedAt,
      ...before,
    })
    const renamed = shown(await ask('PATCH', `/api/segments/${segmentId}`, { name: 'Other', rule: same }))
    expect(renamed).toMatchObject({ ...before, name: 'Other' })
    const entries = await service.sql`
      select action, details from audit_log where business_id = ${tenant.businessId} order by id`
    expect(entries).toEqual([
      { action: 'segment.create', details: {} },
      { action: 'segment.update', details: { fields: ['name'] } },
    ])
  })

  test('warns of a field that came later with another type', async () => {
    const { segmentId, warnings } = await create({ customField: 'seats', operator: 'greater_than', value: 3 })
    expect(warnings).toEqual([])
    await track({ identity: { email: 'a@x.io' }, traits: { seats: 'many' } })
    expect((await read(segmentId)).warnings).toMatchObject([{ path: 'rule.operator' }])
    const listed = (await ask('GET', '/api/segments')).body.data['segments'] as Shown[]
    expect(listed[0]?.warnings).toHaveLength(1)
  })
})

describe('what is refused', () => {
  test.each([
    ['a missing name', { rule: VIP }, 'name'],
    ['an empty name', { name: ' ', rule: VIP }, 'name'],
    ['a long name', { name: 'x'.repeat(257), rule: VIP }, 'name'],
    ['a name with NUL', { name: 'a\0b', rule: VIP }, 'name'],
    ['a long description', { name: 'x', description: 'x'.repeat(2001), rule: VIP }, 'description'],
    ['a missing rule', { name: 'x' }, 'rule'],
    ['a rule that is a list', { name: 'x', rule: [] }, 'rule'],
    ['a rule that is a text', { name: 'x', rule: 'vip' }, 'rule'],
    ['an empty rule', { name: 'x', rule: {} }, 'rule'],
    ['an unknown word', { name: 'x', rule: { ...VIP, color: 'red' } }, 'rule.color'],
    ['NUL in a value', { name: 'x', rule: { attribute: 'city', operator: 'equals', value: 'a\0b' } }, 'rule.value'],
    ['half a character', { name: 'x', rule: { tag: '\ud800', operator: 'has' } }, 'rule.tag'],
    ['an infinite number', { name: 'x', rule: { ...BOUGHT, value: 'Infinity' } }, 'rule.value'],
    [
      'an unknown segment',
      { name: 'x', rule: { segment: crypto.randomUUID(), operator: 'is_member' } },
      'rule.segment',
    ],
  ])('%s', async (_, json, path) => {
    const answer = await ask('POST', '/api/segments', json)
    expect([...code(answer), answer.body.error.issues?.[0]?.path]).toEqual([400, 'invalid_request', path])
  })

  test('a rule that is nested very deep, or very long', async () => {
    const deep = `${'{"not":'.repeat(5000)}{"tag":"vip","operator":"has"}${'}'.repeat(5000)}`
    for (const raw of [`{"name":"x","rule":${deep}}`, `{"name":"x","rule":${JSON.stringify({ all: manyOf(101) })}}`]) {
      const headers = { 'content-type': 'application/json' }
      const answer = await speak('POST', '/api/segments', { key: tenant.secretKey, raw, headers })
      expect(code(answer)).toEqual([400, 'invalid_request'])
    }
    expect(shown(await ask('POST', '/api/segments', { name: 'x', rule: { all: manyOf(100) } })).rule).toEqual({
      all: manyOf(100),
    })
  })

  test('an empty change, and invalid parameters of a list', async () => {
    const { segmentId } = await create(VIP)
    const path = `/api/segments/${segmentId}`
    expect(code(await ask('PATCH', path, {}))).toEqual([400, 'invalid_request'])
    expect(code(await ask('PATCH', path, { name: null, rule: null }))).toEqual([400, 'invalid_request'])
    for (const query of [
      'members?limit=0',
      'members?limit=501',
      'members?cursor=x',
      'members?at=yesterday',
      'members?at=2026-02-30',
      'changes?limit=501',
      'changes?cursor=x',
      'changes?from=soon',
      'changes?from=2026-01-02&to=2026-01-02',
      'history?to=then',
      'history?from=2026-01-02&to=2026-01-01',
      'history?from=1990-01-01',
      'explain',
    ])
      expect([query, ...code(await ask('GET', `${path}/${query}`))]).toEqual([query, 400, 'invalid_request'])
    expect(code(await ask('GET', `${path}/explain?contactId=x`))).toEqual([404, 'not_found'])
    expect(code(await ask('GET', `${path}/explain?contactId=${crypto.randomUUID()}`))).toEqual([404, 'not_found'])
    for (const id of ['later', crypto.randomUUID()])
      expect(code(await ask('GET', `/api/contacts?segment=${id}`))).toEqual([404, 'not_found'])
    expect(code(await ask('GET', `/api/contacts?email=a@x.io&segment=${segmentId}`))).toEqual([400, 'invalid_request'])
    expect(code(await ask('GET', '/api/segments/preview'))).toEqual([405, 'method_not_allowed'])
  })

  test('a publishable key', async () => {
    const answer = await speak('GET', '/api/segments', { key: tenant.publishableKey })
    expect(code(answer)).toEqual([403, 'publishable_key'])
  })
})

const manyOf = (n: number) => Array.from({ length: n }, (_, place) => ({ tag: `t${place}`, operator: 'has' }))

describe('segments that name each other', () => {
  const member = (segment: string) => ({ segment, operator: 'is_member' })

  test('are members of each other, and follow an edit', async () => {
    const inner = await create(VIP, 'Inner')
    const outer = await create({ not: member(inner.segmentId) }, 'Outer')
    await untilReady(outer.segmentId)
    const vip = await track({ identity: { email: 'vip@x.io' }, tags: ['vip'] })
    const other = await track({ identity: { email: 'other@x.io' } })
    expect(await memberIds(outer.segmentId)).toEqual([other])
    await ask('PATCH', `/api/segments/${inner.segmentId}`, { rule: { not: VIP } })
    await untilReady(outer.segmentId)
    expect(await memberIds(outer.segmentId)).toEqual([vip])
    expect(await read(outer.segmentId)).toMatchObject({ version: 1 })
  })

  test('form no circle, and are not deleted while they are named', async () => {
    const inner = await create(VIP, 'Inner')
    const outer = await create({ any: [BOUGHT, member(inner.segmentId)] }, 'Outer')
    const path = `/api/segments/${inner.segmentId}`
    for (const named of [inner, outer]) {
      const answer = await ask('PATCH', path, { rule: { all: [VIP, member(named.segmentId)] } })
      expect(answer.body.error).toMatchObject({ code: 'invalid_request', issues: [{ path: 'rule.all[1].segment' }] })
    }
    await create(member(inner.segmentId), 'Another')
    const refused = await ask('DELETE', path)
    expect(code(refused)).toEqual([409, 'in_use'])
    expect(refused.body.message).toBe('The segment is used by the segment "Another" and the segment "Outer".')
    expect(await read(inner.segmentId)).toMatchObject({ name: 'Inner' })
  })
})

test('a segment is not deleted while a campaign names it', async () => {
  const { segmentId } = await create(VIP)
  const trigger = { segment: segmentId, on: 'enter' }
  expect((await ask('POST', '/api/campaigns', { name: 'Welcome', trigger })).status).toBe(200)
  const refused = await ask('DELETE', `/api/segments/${segmentId}`)
  expect(code(refused)).toEqual([409, 'in_use'])
  expect(refused.body.message).toBe('The segment is used by the campaign "Welcome".')
})

describe('a preview', () => {
  const preview = async (json: object) => dataOf(PreviewData, await ask('POST', '/api/segments/preview', json))

  test('counts the contacts that match at once, newest contacts first, and stores nothing', async () => {
    const ids: string[] = []
    for (const n of [1, 2, 3]) ids.unshift(await track({ identity: { email: `p${n}@x.io` }, tags: ['vip'] }))
    await track({ identity: { email: 'other@x.io' } })
    expect(await preview({ rule: VIP })).toEqual({ count: 3, sample: ids, asOf: anyText })
    expect(await preview({ rule: { not: VIP }, sample: 0 })).toMatchObject({ count: 1, sample: [] })
    expect(await preview({ rule: VIP, sample: 2 })).toMatchObject({ count: 3, sample: ids.slice(0, 2) })
    await ask('DELETE', `/api/contacts/${ids[0]}`)
    expect(await preview({ rule: VIP, sample: 100 })).toMatchObject({ count: 2, sample: ids.slice(1) })
    const { segmentId } = await create(VIP)
    expect(await preview({ rule: { segment: segmentId, operator: 'is_member' } })).toMatchObject({ count: 2 })
    expect((await ask('GET', '/api/segments')).body.data['segments']).toHaveLength(1)
  })

  test.each([
    [{}, 'rule'],
    [{ rule: { ...VIP, color: 'red' } }, 'rule.color'],
    [{ rule: VIP, sample: 101 }, 'sample'],
    [{ rule: VIP, sample: -1 }, 'sample'],
    [{ rule: VIP, sample: 1.5 }, 'sample'],
    [{ rule: VIP, sample: '5' }, 'sample'],
  ])('with the body %j is refused', async (json, path) => {
    const answer = await ask('POST', '/api/segments/preview', json)
    expect([...code(answer), answer.body.error.issues?.[0]?.path]).toEqual([400, 'invalid_request', path])
  })
})

test('while ClickHouse is away, only what needs it is unavailable', async () => {
  const contactId = await track({ identity: { email: 'a@x.io' }, tags: ['vip'] })
  const { segmentId } = await create(VIP)
  await untilReady(segmentId)
  const lonely = await runFrontDoor({ ...service.config, clickhouseUrl: 'http://127.0.0.1:9/none' })
  const askLonely = (method: string, path: string, json?: object) =>
    speakTo(lonely.url)(method, path, { key: tenant.secretKey, json })
  const path = `/api/segments/${segmentId}`
  for (const rest of ['', '/members', `/explain?contactId=${contactId}`])
    expect([rest, (await askLonely('GET', path + rest)).status]).toEqual([rest, 200])
  const away = await Promise.all([
    ...['/members?at=2026-01-01', '/changes', '/history'].map((rest) => askLonely('GET', path + rest)),
    askLonely('POST', '/api/segments/preview', { rule: VIP }),
  ])
  expect(away.map(code)).toEqual(Array.from(away, () => [503, 'unavailable']))
  for (const { headers } of away) expect(headers.get('retry-after')).not.toBeNull()
  await lonely.close()
})

test('changes and history are read back as they happened', async () => {
  const { segmentId } = await create(VIP)
  await untilReady(segmentId)
  const contactId = await track({ identity: { email: 'a@x.io' }, tags: ['vip'] })
  await ask('PATCH', `/api/contacts/${contactId}`, { removeTags: ['vip'] })
  const path = `/api/segments/${segmentId}`
  const first = dataOf(ChangesData, await ask('GET', `${path}/changes?limit=1`))
  expect(first['changes']).toEqual([{ contactId, change: 'left', at: anyText, cause: 'live' }])
  const rest = dataOf(ChangesData, await ask('GET', `${path}/changes?cursor=${String(first['nextCursor'])}`))
  expect(rest).toEqual({
    changes: [{ contactId, change: 'entered', at: anyText, cause: 'live' }],
    nextCursor: null,
  })
  const [entry] = rest['changes'] as { at: string }[]
  const then = dataOf(MembersData, await ask('GET', `${path}/members?at=${entry?.at}`))
  expect(then).toEqual({ members: [{ contactId, enteredAt: entry?.at, cause: 'live' }], nextCursor: null })
  const { days } = dataOf(HistoryData, await ask('GET', `${path}/history`)) as { days: object[] }
  expect(days).toHaveLength(31)
  expect(days.at(-1)).toEqual({ day: new Date().toISOString().slice(0, 10), entered: 1, left: 1, members: 0 })
  await ask('DELETE', `/api/contacts/${contactId}`)
  const erased = dataOf(ChangesData, await ask('GET', `${path}/changes`))
  expect((erased['changes'] as { contactId: null }[]).map((one) => one.contactId)).toEqual([null, null])
})

describe('explain', () => {
  test('shows what each condition saw, and when time alone changes the answer', async () => {
    const rule = { all: [{ event: 'visit', metric: 'last', operator: 'within_days', value: 1 }, { not: VIP }] }
    const { segmentId } = await create(rule)
    await untilReady(segmentId)
    const at = new Date(Date.now() - 1000).toISOString()
    const contactId = await track({ identity: { email: 'a@x.io' }, occurredAt: at })
    const explained = dataOf(
      ExplanationData,
      await ask('GET', `/api/segments/${segmentId}/explain?contactId=${contactId}`),
    )
    expect(explained).toEqual({
      member: true,
      enteredAt: anyText,
      changesAt: new Date(Date.parse(at) + 86_400_001).toISOString(),
      rule: {
        all: [
          { ...rule.all[0], matches: true, seen: at },
          { not: { ...VIP, matches: false, seen: false }, matches: true },
        ],
        matches: true,
      },
    })
    const never = await ask('POST', '/api/sdk/identify', { identity: { email: 'b@x.io' } })
    const other = String(never.body.data['contactId'])
    const none = dataOf(ExplanationData, await ask('GET', `/api/segments/${segmentId}/explain?contactId=${other}`))
    expect(none).toMatchObject({ member: false, enteredAt: null, changesAt: null, rule: { all: [{ seen: null }, {}] } })
  })

  test('uses the former rule while another is computed, and follows a merged contact', async () => {
    const { segmentId } = await create(VIP)
    await untilReady(segmentId)
    const first = await track({ identity: { email: 'a@x.io' }, tags: ['vip'] })
    const second = await track({ identity: { phone: '0501234567' } })
    await track({ identity: { email: 'a@x.io', phone: '0501234567' } })
    for (const id of [first, second])
      expect((await ask('GET', `/api/segments/${segmentId}/explain?contactId=${id}`)).body.data).toMatchObject({
        member: true,
        rule: VIP,
      })
  })
})
