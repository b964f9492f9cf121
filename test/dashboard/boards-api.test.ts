/** Boards over real HTTP: their contents and limits, and changes by two people at once. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BOARD_LIMITS } from '../../src/analytics/boards/board.ts'
import { BoardData, BoardsData } from '../../src/front-door/routes/dashboard/boards/board-schemas.ts'
import { createQuery } from '../../src/analytics/sql-page/saved-queries.ts'
import { expectShape } from '../front-door/reply-shape.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type DashboardAnswer, type SessionClient, addUser, signIn } from './session-client.ts'

interface Chart {
  id: string
  title: string
  kind: string
  size: string
  days: number | null
  needs: string
  query: Record<string, string> | null
  page: string | null
}
interface Board {
  id: string
  name: string
  version: number
  charts: Chart[]
  mail: { isOn: boolean; recipients: string[] }
}

let service: Service
let businessId: string
let analyst: SessionClient
let reader: SessionClient
let analystId: string
let readerId: string
beforeAll(async () => {
  service = await openService({}, { withoutWorkers: true })
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ businessId } = await createBusiness(service.sql, { timezone: 'America/New_York' }))
  await addUser(service.sql, 'owner@x.io', { businessId, role: 'owner' })
  analystId = await addUser(service.sql, 'analyst@x.io', { businessId, role: 'analyst' })
  readerId = await addUser(service.sql, 'reader@x.io', { businessId, role: 'read-only' })
  analyst = await signIn(service, 'analyst@x.io')
  reader = await signIn(service, 'reader@x.io')
})

const at = (path = '') => `/b/${businessId}/boards${path}`
const CHART = { title: 'Events', kind: 'series', query: {}, days: 7, page: 'analytics?days=7', size: 'half' }

function boardOf(answer: DashboardAnswer): Board {
  expect([answer.status, answer.issues]).toEqual([200, []])
  expectShape(BoardData, answer.data)
  return answer.data['board'] as Board
}
const create = async (name: string) => boardOf(await analyst.send('POST', at(), { name }))
const add = (id: string, chart: object = {}) => analyst.send('POST', at(`/${id}/charts`), { ...CHART, ...chart })
const edit = ({ id, version, name, charts }: Board, change: object = {}) =>
  analyst.send('PUT', at(`/${id}`), {
    version,
    name,
    charts: charts.map((one) => ({ id: one.id, title: one.title, size: one.size })),
    ...change,
  })
async function list(client = analyst): Promise<{ id: string; name: string; chartCount: number; isWeekly: boolean }[]> {
  const { data } = await client.send('GET', at())
  expectShape(BoardsData, data)
  return data['boards'] as never
}

describe('a board', () => {
  it('is created, filled, changed and deleted, and everybody in the business reads it', async () => {
    const { id } = await create('Mornings')
    boardOf(await add(id))
    const filled = boardOf(await add(id, { title: 'Money', kind: 'revenue', size: 'full' }))
    expect(filled).toMatchObject({ name: 'Mornings', version: 3, mail: { isOn: false, recipients: [] } })
    const [first, second] = filled.charts as [Chart, Chart]
    const changed = boardOf(
      await edit(filled, {
        name: 'Evenings',
        charts: [
          { id: second.id, title: 'Net', size: 'half' },
          { id: first.id, title: 'Events', size: 'half' },
        ],
      }),
    )
    expect(changed.version).toBe(4)
    expect(changed.charts.map(({ title, size }) => [title, size])).toEqual([
      ['Net', 'half'],
      ['Events', 'half'],
    ])
    expect(boardOf(await reader.send('GET', at(`/${id}`)))).toEqual(changed)
    expect(await list(reader)).toEqual([{ id, name: 'Evenings', version: 4, chartCount: 2, isWeekly: false }])
    const removed = boardOf(await edit(changed, { charts: [] }))
    expect(removed.charts).toEqual([])
    expect((await analyst.send('DELETE', at(`/${id}`))).status).toBe(200)
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['PUT', '/mail'],
    ] as const)
      expect(
        (
          await analyst.send(
            method,
            at(`/${id}${path}`),
            method === 'PUT' ? { isOn: false, recipients: [] } : undefined,
          )
        ).code,
      ).toBe('not_found')
    expect((await add(id)).code).toBe('not_found')
    expect((await edit(removed)).code).toBe('not_found')
    expect((await analyst.send('GET', at('/no-id'))).code).toBe('not_found')
    const actions = await service.sql<{ action: string }[]>`
      select action from audit_log where business_id = ${businessId} and action like 'board.%' order by id`
    expect(actions.map(({ action }) => action)).toEqual([
      'board.create',
      'board.update',
      'board.update',
      'board.update',
      'board.update',
      'board.delete',
    ])
  })

  it('that another person has changed is not overwritten, and charts that two people add are both kept', async () => {
    const { id } = await create('Mornings')
    const seen = boardOf(await add(id))
    await Promise.all(['one', 'two', 'three'].map((title) => add(id, { title })))
    expect((await edit(seen, { name: 'Mine' })).code).toBe('locked')
    const now = boardOf(await analyst.send('GET', at(`/${id}`)))
    expect(now.charts.map(({ title }) => title).toSorted()).toEqual(['Events', 'one', 'three', 'two'])
    const answers = await Promise.all(['a', 'b'].map((name) => edit(now, { name })))
    expect(answers.map(({ code }) => code ?? 'saved').toSorted()).toEqual(['locked', 'saved'])
  })

  it('is deleted after an edit that is on its way', async () => {
    const { id } = await create('Mornings')
    const { sql } = service
    const { promise: release, resolve } = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const edit = sql.begin(async (tx) => {
      await tx`select from businesses where id = ${businessId} for no key update`
      locked.resolve()
      await release
    })
    await locked.promise
    const deleted = analyst.send('DELETE', at(`/${id}`))
    const waits = () => sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%for no key update%'`
    await expect.poll(async () => (await waits()).length, { timeout: PATIENCE_MS }).toBe(1)
    expect((await analyst.send('GET', at(`/${id}`))).status).toBe(200)
    resolve()
    await edit
    expect((await deleted).status).toBe(200)
  })

  it('keeps the charts that it has: an edit names them once', async () => {
    const board = boardOf(await add((await create('Mornings')).id))
    const chart = { id: board.charts[0]?.id, title: 'x', size: 'half' }
    expect((await edit(board, { charts: [chart, chart] })).issues[0]?.path).toBe('charts')
    expect((await edit(board, { charts: [{ ...chart, id: randomUUID() }] })).issues[0]?.path).toBe('charts')
  })

  it('has a name that no other one has', async () => {
    await create('Mornings')
    const other = await create('Evenings')
    expect((await analyst.send('POST', at(), { name: 'Mornings' })).issues[0]?.path).toBe('name')
    expect((await edit(other, { name: 'Mornings' })).issues[0]?.path).toBe('name')
  })

  it.each([
    [{ name: 'x'.repeat(BOARD_LIMITS.name) }, undefined],
    [{ name: 'x'.repeat(BOARD_LIMITS.name + 1) }, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{}, 'name'],
  ])('%j', async (body, path) => {
    expect((await analyst.send('POST', at(), body)).issues[0]?.path).toBe(path)
  })
})

it('boards keep the order that they are given, and an order of an older list is refused', async () => {
  const ids = [(await create('a')).id, (await create('b')).id, (await create('c')).id]
  const order = (wanted: string[]) => analyst.send('PUT', at(), { ids: wanted })
  const [a = '', b = '', c = ''] = ids
  expect((await order([c, a, b])).status).toBe(200)
  expect((await list()).map(({ name }) => name)).toEqual(['c', 'a', 'b'])
  expect((await order([a, b])).code).toBe('locked')
  expect((await order([a, b, b])).code).toBe('locked')
  expect((await order([a, b, randomUUID()])).code).toBe('locked')
  expect((await order([a, b, 'c'])).issues[0]?.path).toBe('ids.2')
  const { id: d } = await create('d')
  expect((await order([c, a, b])).code).toBe('locked')
  expect((await list()).map(({ id }) => id)).toEqual([c, a, b, d])
})

describe('a chart', () => {
  let id: string
  beforeEach(async () => {
    ;({ id } = await create('Mornings'))
  })

  it.each([
    ['series', { series: '[{"measure":"contacts","events":["signup"]}]', interval: 'day', compare: 'true' }],
    ['series', { breakdown: 'country', top: '4' }],
    ['funnel', { steps: '[{"event":"signup"},{"event":"purchase"}]', order: 'any', windowSeconds: '86400' }],
    ['retention', { first: '{"event":"signup"}', interval: 'week' }],
    ['lifecycle', { active: '{"event":"purchase"}' }],
    ['stages', {}],
    ['revenue', { compare: 'true' }],
    ['cohorts', { currency: 'EUR' }],
    ['attribution', { model: 'linear', by: 'channel' }],
    ['web', {}],
    ['pages', { top: '5' }],
    ['sources', { by: 'source' }],
  ])('%s %j is for all', async (kind, query) => {
    const board = boardOf(await add(id, { kind, query }))
    expect(board.charts.at(-1)).toMatchObject({ kind, query, days: 7, needs: 'lists:read' })
    const [shown] = boardOf(await reader.send('GET', at(`/${id}`))).charts
    expect(shown?.query).toEqual(query)
  })

  it('that shows engagement has no time range', async () => {
    const { days: _, ...chart } = CHART
    const body = { ...chart, kind: 'engagement' }
    const board = boardOf(await analyst.send('POST', at(`/${id}/charts`), body))
    expect(board.charts[0]).toMatchObject({ kind: 'engagement', days: null })
    expect((await add(id, { kind: 'engagement' })).issues[0]?.path).toBe('days')
  })

  it('may have a range of its own in place of the last days', async () => {
    const { days: _, ...chart } = CHART
    const query = { from: '2026-01-01', to: '2026-02-01' }
    const board = boardOf(await analyst.send('POST', at(`/${id}/charts`), { ...chart, query }))
    expect(board.charts[0]).toMatchObject({ query, days: null })
    expect((await add(id, { query })).issues.map(({ path }) => path)).toEqual(['query.from', 'query.to'])
  })

  it.each([
    [
      {
        query: { series: '[{"measure":"count","where":[{"property":"plan","operator":"equals","value":"ann@x.io"}]}]' },
      },
    ],
    [{ query: { breakdown: 'field:plan' } }],
    [{ query: { breakdown: 'property:plan' } }],
    [
      {
        kind: 'funnel',
        query: {
          steps: '[{"event":"a","where":[{"property":"mail","operator":"equals","value":"ann@x.io"}]},{"event":"b"}]',
        },
      },
    ],
  ])('with values of people is shown to those who may see contacts: %j', async (chart) => {
    boardOf(await add(id, chart))
    const [own] = boardOf(await analyst.send('GET', at(`/${id}`))).charts
    expect(own).toMatchObject({ needs: 'contacts:read', query: chart.query })
    const [hidden] = boardOf(await reader.send('GET', at(`/${id}`))).charts
    expect(hidden).toMatchObject({ title: 'Events', needs: 'contacts:read', query: null, page: null })
  })

  it('that shows a saved query is for those who may run SQL', async () => {
    const actor = { kind: 'command', id: 'x', name: 'x' } as const
    const query = await createQuery(
      service.sql,
      { businessId, actor },
      { name: 'q', statement: 'select 1', parameters: {} },
    )
    if (typeof query === 'string') throw new Error(query)
    const { days: _, ...chart } = CHART
    const body = { ...chart, kind: 'sql', page: `sql?query=${query.id}`, query: { queryId: query.id } }
    const send = (change: object) => analyst.send('POST', at(`/${id}/charts`), { ...body, ...change })
    expect(boardOf(await send({})).charts[0]).toMatchObject({ needs: 'sql:run', days: null })
    expect(boardOf(await reader.send('GET', at(`/${id}`))).charts[0]?.query).toBeNull()
    expect((await send({ query: { queryId: randomUUID() } })).issues[0]?.path).toBe('query.queryId')
    expect((await send({ query: { queryId: query.id, more: '1' } })).issues[0]?.path).toBe('query.queryId')
    expect((await send({ query: { queryId: randomUUID() } })).issues[0]?.code).toBe('query_id')
    expect((await send({ days: 7 })).issues[0]?.path).toBe('days')
    const other = await createBusiness(service.sql)
    await addUser(service.sql, 'owner@x.io', { businessId: other.businessId, role: 'owner' })
    await addUser(service.sql, 'analyst@x.io', { businessId: other.businessId, role: 'analyst' })
    const theirs = (await analyst.send('POST', `/b/${other.businessId}/boards`, { name: 'b' })).data['board'] as Board
    const crossed = await analyst.send('POST', `/b/${other.businessId}/boards/${theirs.id}/charts`, body)
    expect(crossed.issues[0]?.path).toBe('query.queryId')
  })

  it('is refused with the codes of its chart', async () => {
    const { issues } = await add(id, { query: { interval: 'year' } })
    expect(issues).toMatchObject([
      {
        path: 'query.interval',
        message: expect.stringMatching(/^query\.interval must be one of /) as string,
        code: 'one_of',
      },
    ])
  })

  it.each([
    [{ kind: 'nothing' }, 'kind'],
    [{ query: { interval: 'year' } }, 'query.interval'],
    [{ query: { series: '[{"measure":"sum"}]' } }, 'query.series[0].property'],
    [{ query: { series: 'no' } }, 'query.series'],
    [{ query: { nothing: '1' } }, 'query.nothing'],
    [{ query: { interval: 'hour' }, days: 90 }, 'query.interval'],
    [{ kind: 'funnel', query: {} }, 'query.steps'],
    [{ query: { series: 1 } }, 'query.series'],
    [{ days: 0 }, 'days'],
    [{ days: BOARD_LIMITS.days + 1 }, 'days'],
    [{ days: 1.5 }, 'days'],
    [{ size: 'huge' }, 'size'],
    [{ title: '' }, 'title'],
    [{ title: 'x'.repeat(BOARD_LIMITS.title + 1) }, 'title'],
    [{ title: '\ud800' }, 'title'],
    [{ page: 'https://evil.example/' }, 'page'],
    [{ page: '//evil.example' }, 'page'],
    [{ page: 'analytics/nothing' }, 'page'],
    [{ page: '../../b/x' }, 'page'],
    [{ page: 'analytics#x' }, 'page'],
    [{ page: 'analytics?x=\r\nhttps://evil.example/' }, 'page'],
    [{ page: 'analytics?x= y' }, 'page'],
    [{ page: 'analytics?x=\u2028y' }, 'page'],
    [{ page: 'analytics?x=\u202ey' }, 'page'],
    [{ page: `analytics?${'x'.repeat(BOARD_LIMITS.page)}` }, 'page'],
    [{ query: { series: `[{"events":["${'x'.repeat(BOARD_LIMITS.query)}"]}]` } }, 'query.series'],
    [{ query: { from: 'x'.repeat(2500), to: 'x'.repeat(2500) } }, 'query'],
  ])('is refused with the path: %j', async (change, path) => {
    expect((await add(id, change)).issues[0]?.path).toBe(path)
  })

  it('may be as long as allowed', async () => {
    boardOf(
      await add(id, {
        title: 'x'.repeat(BOARD_LIMITS.title),
        page: `analytics?${'x'.repeat(BOARD_LIMITS.page - 10)}`,
        days: 365,
      }),
    )
  })

  it('is read as of today in the zone of the business when it is checked', async () => {
    expect((await add(id, { query: { interval: 'hour' }, days: 41 })).status).toBe(200)
    expect((await add(id, { query: { interval: 'hour' }, days: 43 })).issues[0]?.path).toBe('query.interval')
  })
})

describe('limits', () => {
  it('charts of a board, also when many are added at once', async () => {
    const { id } = await create('Mornings')
    for (let n = 0; n < BOARD_LIMITS.charts - 1; n += 1) boardOf(await add(id))
    const answers = await Promise.all(['one', 'two', 'three'].map((title) => add(id, { title })))
    expect(answers.map(({ code }) => code ?? 'saved').toSorted()).toEqual(['limit_reached', 'limit_reached', 'saved'])
  })

  it('boards of a business, also when many are created at once', async () => {
    await service.sql`
      insert into boards (business_id, id, name, place)
      select ${businessId}, gen_random_uuid(), 'b' || n, n from generate_series(1, ${BOARD_LIMITS.boards - 1}) as n`
    const answers = await Promise.all(['one', 'two', 'three'].map((name) => analyst.send('POST', at(), { name })))
    expect(answers.map(({ code }) => code ?? 'saved').toSorted()).toEqual(['limit_reached', 'limit_reached', 'saved'])
    const ids = (await list()).map(({ id }) => id)
    expect((await analyst.send('PUT', at(), { ids })).status).toBe(200)
    expect((await analyst.send('PUT', at(), { ids: [...ids, randomUUID()] })).issues[0]?.path).toBe('ids')
  })
})

describe('the mail of a board', () => {
  const set = (id: string, isOn: boolean, recipients: string[]) =>
    analyst.send('PUT', at(`/${id}/mail`), { isOn, recipients })

  it('goes to people of the business, and to nobody who has left', async () => {
    const { id } = await create('Mornings')
    const recipients = [analystId, readerId].toSorted()
    expect(boardOf(await set(id, true, recipients)).mail).toEqual({ isOn: true, recipients })
    expect((await list())[0]?.isWeekly).toBe(true)
    await service.sql`delete from memberships where business_id = ${businessId} and user_id = ${readerId}`
    expect(boardOf(await analyst.send('GET', at(`/${id}`))).mail.recipients).toEqual([analystId])
    expect((await set(id, true, [readerId])).issues[0]?.path).toBe('recipients')
    expect(boardOf(await set(id, true, [analystId, analystId])).mail.recipients).toEqual([analystId])
    expect(boardOf(await set(id, false, [])).mail).toEqual({ isOn: false, recipients: [] })
  })

  it('is turned off by each person for themselves, whatever their role', async () => {
    const { id } = await create('Mornings')
    await set(id, true, [analystId, readerId])
    const leave = () => reader.send('DELETE', at(`/${id}/mail/me`))
    expect(boardOf(await leave()).mail).toEqual({ isOn: true, recipients: [analystId] })
    expect(boardOf(await leave()).mail.recipients).toEqual([analystId])
    const left = await service.sql<{ actor: string; target: string }[]>`
      select actor_id as actor, target from audit_log
      where business_id = ${businessId} and action = 'board.mail' and details ->> 'left' = 'true'`
    expect(left).toEqual([{ actor: readerId, target: id }])
    expect((await reader.send('DELETE', at(`/${randomUUID()}/mail/me`))).code).toBe('not_found')
  })

  it('needs a person, and no more than the limit', async () => {
    const { id } = await create('Mornings')
    expect((await set(id, true, [])).issues[0]?.path).toBe('recipients')
    expect((await set(id, true, ['no-id'])).issues[0]?.path).toBe('recipients.0')
    expect((await set(id, true, [randomUUID()])).issues[0]?.path).toBe('recipients')
    const many = Array.from({ length: BOARD_LIMITS.recipients }, () => analystId)
    expect((await set(id, true, many)).status).toBe(200)
    expect((await set(id, true, [...many, analystId])).issues[0]?.path).toBe('recipients')
  })
})

it('a board of another business is as one that does not exist', async () => {
  const { id } = await create('Mornings')
  const other = await createBusiness(service.sql)
  await addUser(service.sql, 'other@x.io', { businessId: other.businessId, role: 'owner' })
  const stranger = await signIn(service, 'other@x.io')
  const path = `/b/${other.businessId}/boards/${id}`
  const answers = [
    await stranger.send('GET', path),
    await stranger.send('PUT', path, { version: 1, name: 'x', charts: [] }),
    await stranger.send('POST', `${path}/charts`, CHART),
    await stranger.send('PUT', `${path}/mail`, { isOn: false, recipients: [] }),
    await stranger.send('DELETE', `${path}/mail/me`),
    await stranger.send('DELETE', path),
  ]
  expect(answers.map(({ code }) => code)).toEqual(Array(6).fill('not_found'))
  expect((await stranger.send('GET', `/b/${other.businessId}/boards`)).data['boards']).toEqual([])
  expect((await stranger.send('PUT', `/b/${other.businessId}/boards`, { ids: [id] })).code).toBe('locked')
  expect(boardOf(await analyst.send('GET', at(`/${id}`))).version).toBe(1)
})
