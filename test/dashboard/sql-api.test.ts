/** The SQL page's API: statements read only the rows of their business, have limits, and can be stopped. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertBusiness } from '../../src/businesses/businesses.ts'
import { QUERY_PRIORITY, STATEMENT_LIMITS } from '../../src/rules/statement-limits.ts'
import { MAX_QUERIES } from '../../src/analytics/sql-page/saved-queries.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { RUNS_ALL, partOf } from '../support/runs.ts'
import { type Service, openService } from '../support/service.ts'
import { type DashboardAnswer, type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let folder: string
let client: SessionClient
let mine: string
let theirs: string
const SECRET = `Secret${randomUUID().slice(0, 8)}`
const MY_CONTACT = randomUUID()
const THEIR_CONTACT = randomUUID()
const VIEWS =
  `attributed_purchases attribution_by_day contact_engagement contact_event_statistics contacts revenue_by_day
  segment_changes segment_counts_by_day segment_members segments timeline touches web_hits web_page_views web_sessions`.split(
    /\s+/,
  )

beforeAll(async () => {
  folder = await makeAnalystFolder()
  service = await openService({ DATA_DIR: folder }, { withoutWorkers: true })
  const ids = [await insertBusiness(service.sql, { name: 'A' }), await insertBusiness(service.sql, { name: 'B' })]
  // Either order: the rows of the other business come first or last. The ids are close, so all rows are in one granule.
  ;[mine, theirs] = (Math.random() < 0.5 ? ids : ids.toReversed()) as [string, string]
  await addUser(service.sql, 'owner@x.io', { businessId: mine, role: 'owner' })
  await addUser(service.sql, 'ann@x.io', { businessId: mine, role: 'analyst' })
  client = await signIn(service, 'ann@x.io')
  await fill(mine, MY_CONTACT, 'Ann')
  await fill(theirs, THEIR_CONTACT, SECRET)
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

/** What a row needs for views to show it. */
const seedsOf = (name: string): Record<string, Record<string, unknown>> => ({
  contact_snapshots: { first_name: name, emails: [`${name}@x.io`], custom_fields: '{}', stage: 'Awareness' },
  events: { event: name, type: 'purchase', is_order: 1, counted: 1, occurred_ms: Date.now(), currency: 'USD' },
  visitor_touches: {
    at_ms: [1],
    ...Object.fromEntries(
      'url referrer source medium campaign term content utm_id gclid gbraid wbraid fbclid msclkid ttclid'
        .split(' ')
        .map((column) => [column, [name]]),
    ),
  },
  web_events: {
    kind: 'page_view',
    hit_id: 'h',
    page_id: 'p',
    url: `https://x.io/${name}`,
    occurred_ms: Date.now(),
    received_ms: Date.now(),
  },
  segment_changes: { entered: 1, cause: 'live' },
  segment_definitions: { name, rule: '{}', version: 1 },
})

/** A row in every table. */
async function fill(business: string, contact: string, name: string): Promise<void> {
  const result = await service.clickhouse.query({
    query: `select table, groupArray(name) as columns from system.columns
      where database = {database: String} and table in (
        select name from system.tables where database = {database: String} and engine like '%MergeTree')
      group by table having has(columns, 'business_id')`,
    query_params: { database: service.clickhouse.databases.internal },
    format: 'JSONEachRow',
  })
  for (const { table, columns } of await result.json<{ table: string; columns: string[] }>()) {
    if (table === 'contact_redirects') continue
    const ids = { business_id: business, contact_id: contact, visitor_id: contact, segment_id: contact, revision: 1 }
    const known = Object.entries(ids).filter(([column]) => columns.includes(column))
    const seeds = Object.entries(seedsOf(name)[table] ?? {}).filter(([column]) => columns.includes(column))
    await service.clickhouse.insert({
      table,
      values: [Object.fromEntries([...known, ...seeds])],
      format: 'JSONEachRow',
    })
  }
}

const run = (statement: string, parameters?: Record<string, string>): Promise<DashboardAnswer> =>
  client.send('POST', `/b/${mine}/sql`, { statement, ...(parameters && { parameters }) })

const rowsOf = async (statement: string, parameters?: Record<string, string>) => {
  const { status, data, issues } = await run(statement, parameters)
  expect([statement, status, issues]).toEqual([statement, 200, []])
  return data['rows']
}

describe('a statement reads', () => {
  it('columns, rows and types, as ClickHouse writes them', async () => {
    const { data } = await run(
      "select first_name, emails, null as nothing, toDecimal64('1.50', 2) as money, 18446744073709551615 as big, 'a\\tb\\n\\\\N' as text from contacts",
    )
    expect(data).toMatchObject({
      columns: [
        { name: 'first_name', type: 'Nullable(String)' },
        { name: 'emails', type: 'Array(String)' },
        { name: 'nothing', type: 'Nullable(Nothing)' },
        { name: 'money', type: 'Decimal(18, 2)' },
        { name: 'big', type: 'UInt64' },
        { name: 'text', type: 'String' },
      ],
      rows: [['Ann', "['Ann@x.io']", null, '1.5', '18446744073709551615', 'a\tb\n\\N']],
      isCut: false,
    })
  })

  it('no rows', async () => {
    expect(await rowsOf('select * from contacts where 0')).toEqual([])
  })

  it('parameters, and its business as one', async () => {
    const text = `tab\t, line\n, slash \\ and quote '`
    expect(
      await rowsOf('select {text: String}, {n: UInt8} + 1, {business: UUID}', { text, n: '7', business: theirs }),
    ).toEqual([[text, '8', mine]])
  })

  it.each(['numbers(3)', 'generate_series(1, 3)'])('%s', async (source) => {
    expect(await rowsOf(`select count() from ${source}`)).toEqual([['3']])
  })

  it('what the views of the schema list', async () => {
    const { data } = await client.send('GET', `/b/${mine}/sql/schema`)
    const views = data['views'] as { name: string; columns: { name: string }[] }[]
    expect(views.map(({ name }) => name)).toEqual([...VIEWS, 'event_funnel', 'event_retention'].toSorted())
    for (const { name, columns } of views.filter(({ columns }) => columns.length > 0))
      await rowsOf(`select ${columns.map((one) => `\`${one.name}\``).join(', ')} from ${name} limit 1`)
  })
})

/** The ways in which a statement can name a table. `VIEW` stands for its name. */
const READS = [
  'select * from VIEW',
  'select * from sluice.VIEW',
  'select * from `sluice`.`VIEW`',
  'select * from "sluice" . "VIEW" /* all */ -- of them',
  'select x.* from VIEW as x',
  'select * from VIEW as `sluice.VIEW`',
  'select * from VIEW as `sluice_internal.contact_snapshots`',
  'select * from (select * from VIEW)',
  'with v as (select * from VIEW) select * from v',
  'with VIEW as (select * from sluice.VIEW) select * from VIEW',
  'select * from VIEW union all select * from sluice.VIEW',
  'select * from VIEW union distinct select * from VIEW',
  'select * from VIEW intersect select * from VIEW',
  'select * from VIEW except select * from VIEW where 0',
  'select b.* from numbers(2) as n, VIEW as b',
  'select b.* from VIEW as a right join VIEW as b on a.business_id = b.business_id',
  'select b.* from VIEW as a full join VIEW as b on toString(a.business_id) != toString(b.business_id)',
  'select * from VIEW array join [1, 2] as one',
  'select (select groupArray(toString(business_id)) from VIEW)',
  'select * from VIEW final',
  'select * from VIEW order by 1 limit 1 by business_id',
  "select * from VIEW where business_id = '{THEIRS}'",
  "select '00000000-0000-0000-0000-000000000000' as business_id, * except (business_id) from VIEW",
  "select * replace ('00000000-0000-0000-0000-000000000000' as business_id) from VIEW",
  "select * from VIEW having 1 or business_id = '{THEIRS}'",
  'select * from VIEW qualify 1',
  'from VIEW select *',
  'select toString(tuple(*)) from VIEW',
  'select groupArray(tuple(*)) from VIEW',
  "select columns('.*') from VIEW",
  'select * from sluice.VIEW as contacts join sluice.VIEW as timeline using (business_id)',
]

describe('a statement cannot read what is of others', () => {
  it.each(VIEWS)('in the view %s, however it is named', async (view) => {
    const [[all] = []] = (await rowsOf(`select count() from ${view}`)) as string[][]
    const found = await service.clickhouse.query({
      query: `select toString(count()) as n from sluice.${view} where business_id = {mine: UUID}`,
      query_params: { mine },
      format: 'JSONEachRow',
    })
    expect([view, await found.json()]).toEqual([view, [{ n: all }]])
    expect([view, Number(all) > 0]).toEqual([view, true])
    for (const read of partOf(READS, VIEWS.indexOf(view))) {
      const statement = read.replaceAll('VIEW', view).replaceAll('{THEIRS}', theirs)
      const { data, issues } = await run(statement)
      const shown = JSON.stringify([data, issues])
      expect([statement, shown.includes(theirs), shown.includes(SECRET), shown.includes(THEIR_CONTACT)]).toEqual([
        statement,
        // An error may contain what the person wrote.
        read.includes('{THEIRS}') && issues.length > 0,
        false,
        false,
      ])
    }
  })

  it.each(VIEWS)('by counting in %s', async (view) => {
    const counts = ['count()', 'uniqExact(business_id)', 'count(business_id)', `countIf(business_id = '${theirs}')`]
    const sources = [view, `(select * from ${view})`, `${view} as a`]
    const pairs = counts.flatMap((count) => sources.map((from) => [count, from] as const))
    for (const [count, from] of partOf(pairs, VIEWS.indexOf(view))) {
      const [[counted] = []] = (await rowsOf(`select ${count} from ${from}`)) as string[][]
      const [[ownOnly] = []] = (await rowsOf(
        `select ${count} from ${from} where business_id = {business: UUID}`,
      )) as string[][]
      expect([count, from, counted]).toEqual([count, from, ownOnly])
    }
  })

  it.each([
    `select * from event_retention(business_id = '{THEIRS}', first_event = '', return_event = '')`,
    `select * from sluice.event_retention(business_id = toUUID('{THEIRS}'), first_event = '', return_event = '')`,
    `select * from event_funnel(business_id = '{THEIRS}', events = ['${SECRET}'], window_seconds = 60) where people > 0`,
  ])('by the argument of a view: %s', async (statement) => {
    expect(await rowsOf(statement.replaceAll('{THEIRS}', theirs))).toEqual([])
    expect(await rowsOf(statement.replaceAll('{THEIRS}', mine).replace(SECRET, 'Ann'))).not.toEqual([])
  })

  /** Fails on a row for which the condition is true. */
  const failIf = (condition: string) => `toUInt8(if(${condition}, 'x', '0'))`
  const NAME = failIf(`first_name = '{NAME}'`)
  const EVENT = failIf(`event = '{NAME}'`)

  it.each([
    `select count() from contacts where ${NAME} = 0`,
    `select toUInt8(sum(${NAME}) + 1) from contacts`,
    `select count() from contacts where intDiv(1, first_name != '{NAME}') = 1`,
    `select count() from (select ${NAME} as x, * from contacts) where x = 0`,
    `select count() from contacts as a join contacts as b on ${NAME.replace('first_name', 'a.first_name')} = ${NAME.replace('first_name', 'b.first_name')}`,
    `select count() from contacts where contact_id in (select contact_id from contacts where ${NAME} = 0)`,
    `select count() from contacts group by ${NAME}`,
    `select 1 from contacts order by ${NAME} limit 1`,
    `select count() from contacts array join if(${NAME} = 0, [1], []) as x`,
    `select count() from timeline where ${EVENT} = 0 and occurred_at > '2000-01-01'`,
    `select count() from web_hits where ${failIf("position(url, '{NAME}') > 0")} = 0`,
    `select count() over (order by ${NAME}) from contacts`,
    `select count() from contacts semi join (select contact_id, ${EVENT} as t from timeline) as t using (contact_id) where t = 0`,
    `select toUInt8(x = 0) from (select (select any(${NAME}) from contacts) as x)`,
    `select count() over () from contacts qualify ${NAME} = 0`,
    `select count() from contacts having any(${NAME}) = 0`,
    `select 1 from contacts limit 1 by ${NAME}`,
    `select count() from (select * from contacts order by ${NAME})`,
    `select count() from contacts where ${NAME} = 0 and business_id = '{THEIRS}' or ${NAME} = 0`,
  ])('by an error that depends on it: %s', async (template) => {
    const statement = template.replaceAll('{THEIRS}', theirs)
    expect(await rowsOf(statement.replaceAll('{NAME}', SECRET))).toEqual([['1']])
    // It sees the rows of its own business.
    expect((await run(statement.replaceAll('{NAME}', 'Ann'))).status).toBe(400)
  })

  it.each([
    // Other databases and tables.
    'select * from sluice_internal.contact_snapshots',
    'select * from sluice_internal.events',
    'select * from `sluice_internal`.`contacts`',
    'select 1 in sluice_internal.contact_snapshots',
    'select * from system.processes',
    'select * from system.query_log',
    'select * from system.parts',
    'select * from system.users',
    'select * from system.settings',
    'select * from default.contacts',
    // Table functions.
    "select * from file('/etc/hostname', 'LineAsString')",
    "select * from url('http://127.0.0.1:1/', 'LineAsString')",
    "select * from remote('127.0.0.1', sluice.contacts)",
    "select * from s3('http://127.0.0.1:1/x', 'CSV')",
    "select * from mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "select * from postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "select * from input('a String')",
    "select * from merge('sluice', 'contacts')",
    "select * from cluster('default', sluice.contacts)",
    'select * from view(select * from contacts)',
    "select * from executable('id', 'LineAsString', 'line String')",
    "select * from dictionary('contacts')",
    "select * from generateRandom('a String')",
    // Functions.
    "select file('/etc/hostname')",
    "select dictGet('a', 'b', 1)",
    "select joinGet('contacts', 'first_name', 1)",
    "select getSetting('additional_table_filters')",
    'select sleep(3)',
    'select hostName()',
    // Clauses.
    'select * from contacts settings additional_table_filters = {}',
    "select * from contacts settings additional_table_filters = {'sluice.contacts': '1'}",
    'select * from (select * from contacts settings additional_table_filters = {})',
    'select * from contacts settings query_plan_enable_optimizations = 1',
    'select 1 settings readonly = 0',
    'select 1 settings max_memory_usage = 0',
    "select 1 into outfile 'escaped.txt'",
    "select 1 into outfile '/tmp/escaped.txt' format CSV",
    'select 1 format CSV',
    'select 1 format Null',
    // Everything that is not one SELECT.
    'set additional_table_filters = {}',
    'set role owner',
    'use sluice_internal',
    'insert into contacts (first_name) values (1)',
    'drop view contacts',
    'create table t (a UInt8) engine = Memory',
    'create temporary view contacts as select 1',
    'alter table contacts delete where 1',
    'explain select * from contacts',
    'kill query where 1',
    'system shutdown',
    'show processlist',
    'show create table contacts',
    'select 1; select 2',
    'set readonly = 0; select * from contacts',
    'select 1 parallel with drop view contacts',
    'select {x: Identifier} from contacts; select 1',
    'select',
    ';',
    "'",
    '/*',
  ])('%s', async (statement) => {
    const { status, code, issues } = await run(statement)
    expect([status, code]).toEqual([400, 'invalid_request'])
    expect(issues).toEqual([{ path: 'statement', message: expect.stringMatching(/\S/) as string }])
    expect(issues[0]?.message).not.toMatch(/Code: \d|DB::Exception|\(version|formatQuery|EXPLAIN AST/)
  })

  it('by a statement so long that the check could be cut off', async () => {
    const { issues } = await run(`select ${'1,'.repeat(9_000)} file('/etc/hostname')`)
    expect(issues[0]?.message).toMatch(/^Not allowed: the function file/)
  })

  it.each([
    [{ d: 'sluice_internal', t: 'contact_snapshots' }],
    [{ d: 'system', t: 'processes' }],
    [{ d: 'sluice', t: 'contacts` settings additional_table_filters = {} -- ' }],
  ])('a table by parameter: %j', async (parameters) => {
    const { status } = await run('select * from {d: Identifier}.{t: Identifier}', parameters)
    expect(status).toBe(400)
  })

  it('the view of a parameter is as restricted', async () => {
    const rows = await rowsOf('select first_name from {d: Identifier}.{t: Identifier}', { d: 'sluice', t: 'contacts' })
    expect(rows).toEqual([['Ann']])
  })

  it.each<Record<string, string>>([
    { 'x&sluice_business': 'y' },
    { 'a b': '1' },
    { '': '1' },
    { ['p'.repeat(65)]: '1' },
    { 'a = 1, readonly': '0' },
  ])('by the name of a parameter: %j', async (parameters) => {
    expect((await run('select 1', parameters)).issues[0]?.path).toBe('parameters')
  })

  it('the business is that of the path', async () => {
    expect((await client.send('POST', `/b/${theirs}/sql`, { statement: 'select 1' })).code).toBe('business_not_found')
  })
})

describe('the errors of ClickHouse', () => {
  it.each([
    ['select * form contacts', /^Syntax error: failed at position \d+/],
    ['select * from contact', /contact/],
    ['select nothing from contacts', /nothing/],
    ['select {n: UInt8}', /n/],
    ['select * from contacts format JSON', /^Not allowed: FORMAT\b/],
    ["select toUInt8('x')", /^Cannot parse string 'x' as UInt8/],
  ])('%s', async (statement, words) => {
    const { issues } = await run(statement)
    expect(issues[0]?.message).toMatch(words)
    expect(issues[0]?.message).not.toMatch(/Code: \d|DB::Exception|\(version|formatQuery|[A-Z]{4,}_[A-Z_]{4,}\)/)
  })
})

describe('limits', () => {
  const { rows: maxRows, characters, parameters: maxParameters, parameterCharacters } = STATEMENT_LIMITS

  it('rows: as many as are allowed, and one more', async () => {
    const exact = await run(`select number from numbers(${maxRows})`)
    expect([(exact.data['rows'] as unknown[]).length, exact.data['isCut']]).toEqual([maxRows, false])
    const more = await run(`select number from numbers(${maxRows + 1})`)
    expect([(more.data['rows'] as unknown[]).length, more.data['isCut']]).toEqual([maxRows, true])
  })

  it('rows: many more are not computed', async () => {
    const { data } = await run('select number from numbers(1000000000000)')
    expect([(data['rows'] as unknown[]).length, data['isCut']]).toEqual([maxRows, true])
  })

  it('bytes', async () => {
    const { data } = await run("select repeat('x', 1000000) from numbers(20)")
    expect([(data['rows'] as unknown[]).length, data['isCut']]).toEqual([8, true])
    const one = await run("select repeat('0123456789', 1000000)")
    expect([one.data['rows'], one.data['isCut']]).toEqual([[], true])
  })

  it('limits of the result do not reach into the statement', async () => {
    expect(await rowsOf(`select count() from (select number from numbers(${maxRows * 20}))`)).toEqual([
      [String(maxRows * 20)],
    ])
  })

  it('memory', async () => {
    const { issues } = await run(
      "select length(groupArray(repeat('x', 10000) || toString(number))) from numbers(1000000000)",
    )
    expect(issues[0]?.path).toBe('memory')
  })

  it('characters of a statement', async () => {
    const long = (length: number) => `select '${'x'.repeat(length - 9)}'`
    expect((await run(long(characters))).status).toBe(200)
    expect((await run(long(characters + 1))).code).toBe('invalid_request')
  })

  it('parameters', async () => {
    const some = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, '1']))
    expect((await run('select 1', some(maxParameters))).status).toBe(200)
    expect((await run('select 1', some(maxParameters + 1))).code).toBe('invalid_request')
    expect((await run('select {p: String}', { p: 'x'.repeat(parameterCharacters) })).status).toBe(200)
    expect((await run('select 1', { p: 'x'.repeat(parameterCharacters + 1) })).code).toBe('invalid_request')
  })
})

const SLOW = 'select count() from numbers(100000000000) where sipHash64(number) = 1'

it('is stopped when its caller has gone, runs below charts on one thread, for a limited time, and alone', async () => {
  const closing = new AbortController()
  const answer = fetch(`${service.url}/dashboard/api/b/${mine}/sql`, {
    method: 'POST',
    headers: { Cookie: client.cookie(), 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' },
    body: JSON.stringify({ statement: SLOW }),
    signal: closing.signal,
  })
  const running = async () => {
    const found = await service.clickhouse.query({
      query: `select Settings['priority'] as priority, Settings['max_threads'] as threads, Settings['max_execution_time'] as seconds from system.processes
        where query like 'SELECT count() FROM numbers(100000000000)%' and Settings['additional_table_filters'] like {b: String}`,
      query_params: { b: `%${mine}%` },
      format: 'JSONEachRow',
    })
    return found.json()
  }
  await expect
    .poll(running, { timeout: PATIENCE_MS })
    .toEqual([{ priority: QUERY_PRIORITY.statement, threads: '1', seconds: `${STATEMENT_LIMITS.seconds}` }])
  // A second one of the same business waits for the first, for a few seconds. It takes no slot of the charts meanwhile.
  let isWaiting = true
  const second = run('select 1').finally(() => (isWaiting = false))
  await setTimeout(300)
  const chart = await client.send('GET', `/b/${mine}/analytics/series?event=e`)
  expect([chart.status, isWaiting]).toEqual([200, true])
  expect((await second).status).toBe(429)
  const began = performance.now()
  closing.abort()
  await expect(answer).rejects.toThrow(/abort/i)
  await expect.poll(running, { timeout: PATIENCE_MS }).toEqual([])
  expect(performance.now() - began).toBeLessThan(STATEMENT_LIMITS.seconds * 1000)
})

// It computes during all of this time.
it.runIf(RUNS_ALL)('is ended after its time', async () => {
  const { issues } = await run(SLOW)
  expect(issues[0]?.path).toBe('seconds')
})

it('is in the audit log, without its text', async () => {
  await run('select 4711')
  const [entry] = await service.sql<{ actor_name: string; details: unknown }[]>`
    select actor_name, details from audit_log where business_id = ${mine} and action = 'sql.run' order by id desc limit 1`
  expect(entry).toEqual({ actor_name: 'ann@x.io', details: {} })
})

describe('saved queries', () => {
  const path = (id = '') => `/b/${mine}/sql/queries${id && `/${id}`}`
  const QUERY = { name: 'Buyers', statement: 'select {n: UInt8}', parameters: { n: '1' } }

  it('are saved, changed and deleted, and everybody who may run SQL sees them', async () => {
    const { status, data } = await client.send('POST', path(), QUERY)
    expect(status).toBe(200)
    const { id } = data['query'] as { id: string }
    await addUser(service.sql, 'eve@x.io', { businessId: mine, role: 'marketer' })
    const other = await signIn(service, 'eve@x.io')
    expect((await other.send('GET', path())).data['queries']).toEqual([{ id, ...QUERY }])
    const changed = { ...QUERY, name: 'Sellers', parameters: {} }
    expect((await other.send('PUT', path(id), changed)).data['query']).toEqual({ id, ...changed })
    expect((await client.send('POST', path(), { ...QUERY, name: 'Sellers' })).issues[0]?.path).toBe('name')
    const second = await client.send('POST', path(), QUERY)
    const { id: secondId } = second.data['query'] as { id: string }
    expect((await client.send('PUT', path(secondId), changed)).issues[0]?.path).toBe('name')
    for (const one of [id, secondId]) expect((await client.send('DELETE', path(one))).status).toBe(200)
    expect((await client.send('DELETE', path(id))).code).toBe('not_found')
    expect((await client.send('PUT', path(id), QUERY)).code).toBe('not_found')
    expect((await client.send('PUT', path('no-id'), QUERY)).code).toBe('not_found')
    expect((await client.send('GET', path())).data['queries']).toEqual([])
    const actions = await service.sql<{ action: string }[]>`
      select action from audit_log where business_id = ${mine} and action like 'query.%' order by id`
    expect(actions.map(({ action }) => action)).toEqual([
      'query.create',
      'query.update',
      'query.create',
      'query.delete',
      'query.delete',
    ])
  })

  it.each([
    [{ name: 'x'.repeat(100) }, undefined],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ statement: '' }, 'statement'],
    [{ statement: 'x'.repeat(STATEMENT_LIMITS.characters + 1) }, 'statement'],
    [{ parameters: { 'a b': '1' } }, 'parameters'],
    [{ parameters: { a: '\ud800' } }, 'parameters.a'],
  ])('%j', async (change, fault) => {
    const { issues, data, status } = await client.send('POST', path(), { ...QUERY, ...change })
    expect(issues[0]?.path).toBe(fault)
    if (status === 200) await client.send('DELETE', path((data['query'] as { id: string }).id))
  })

  it('are limited in number, also when many are saved at once', async () => {
    await service.sql`
      insert into saved_queries (business_id, id, name, statement, parameters)
      select ${mine}, gen_random_uuid(), 'q' || n, 'select 1', '{}'::jsonb from generate_series(1, ${MAX_QUERIES - 1}) as n`
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((name) => client.send('POST', path(), { ...QUERY, name })),
    )
    expect(answers.map(({ code }) => code ?? 'saved').toSorted()).toEqual(['limit_reached', 'limit_reached', 'saved'])
  })
})
