/** The user `analyst` of the embedded ClickHouse can read the public views, as tools do, and nothing else. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { analystStatements, grantAnalyst } from '../../src/migrate/grant-analyst.ts'
import type { Logger } from '../../src/log.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { textLiteral } from '../../src/stores/clickhouse-literal.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Line, openLine } from '../support/speak-raw.ts'

const { clickhouseUrl, clickhouseAnalystUrl } = inject('stores')
const owner = connectClickHouse(clickhouseUrl)
const business = crypto.randomUUID()
const contact = crypto.randomUUID()
const SECRET = `secret-${crypto.randomUUID()}`

beforeAll(async () => {
  await owner.command({
    query: `insert into contact_snapshots (business_id, contact_id, revision, first_name, emails, stage, custom_fields)
      values ('${business}', '${contact}', 1, 'Ann', ['ann@x.io'], 'Awareness', '{}')`,
  })
  // Data that no view shows.
  await owner.command({
    query: `insert into contact_redirects (business_id, contact_id, revision, erased) values ('${crypto.randomUUID()}', '${crypto.randomUUID()}', 1, 1)`,
  })
  await owner.command({ query: `create or replace table secrets (word String) engine = Memory as select '${SECRET}'` })
})
afterAll(async () => {
  await owner.command({ query: 'drop table if exists secrets sync' })
  await owner.close()
})

interface Request {
  parameters?: Record<string, string>
  headers?: Record<string, string>
  method?: string
  body?: string | Uint8Array
}

async function ask({ parameters = {}, headers = {}, method = 'POST', body }: Request) {
  const { origin, username, password } = new URL(clickhouseAnalystUrl)
  const authorization = `Basic ${btoa(`${username}:${password}`)}`
  const answer = await fetch(`${origin}/?${new URLSearchParams(parameters).toString()}`, {
    method,
    headers: { authorization, ...headers },
    ...(body !== undefined && { body: Buffer.from(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}
const askFor = (body: string | Uint8Array, rest: Omit<Request, 'body'> = {}) => ask({ ...rest, body })

describe('an analyst reads', () => {
  test.each([
    [`select first_name, emails[1] from contacts where business_id = '${business}'`, 'Ann\tann@x.io\n'],
    [`SELECT first_name FROM sluice.contacts WHERE business_id = '${business}';`, 'Ann\n'],
    [`select "first_name" from \`contacts\` -- why\n where business_id = '${business}' /* so */`, 'Ann\n'],
    [`with c as (select * from contacts where business_id = '${business}') select count() from c`, '1\n'],
    [`select uniqExactIf(contact_id, stage = 'Awareness') from contacts where business_id = '${business}'`, '1\n'],
    [
      `select n from (select n from numbers(2) as x array join [number] as n union all select 7) order by n`,
      '0\n1\n7\n',
    ],
    ['select arrayMap(x -> x + 1, [1, 2])', '[2,3]\n'],
    [
      'select sum(number) over (order by number rows between unbounded preceding and current row) from numbers(3)',
      '0\n1\n3\n',
    ],
    [
      'select 1 in (select 1), not 0, case when 1 then 2 else 3 end, toYear(toDate32(now64(3))) > 2000, (1, 2).1',
      '1\t1\t2\t1\t1\n',
    ],
    ['select * except (number) replace (1 as other) from (select number, 2 as other from numbers(1))', '1\n'],
    ["select 'into outfile settings format explain'", 'into outfile settings format explain\n'],
    ["select version() != '', currentUser(), timezone()", '1\tdefault\tUTC\n'],
    ['select name from system.databases order by name', 'sluice\n'],
    ["select count() from system.tables where database != 'sluice'", '0\n'],
    ["select count() from system.columns where database != 'sluice'", '0\n'],
    ["select count() from information_schema.tables where table_schema != 'sluice'", '0\n'],
    ["select comment from system.columns where table = 'contacts' and name = 'emails' limit 1", /primary one first/],
    ['show databases', 'sluice\n'],
    ['desc contacts', /^business_id\tUUID/],
    ['describe table sluice.contacts', /emails\tArray\(String\)/],
  ])('%s', async (query, answer) => {
    const { status, text } = await askFor(query)
    if (answer instanceof RegExp) expect(text).toMatch(answer)
    else expect(text).toBe(answer)
    expect(status).toBe(200)
  })

  test('the list of the public views, and no other table', async () => {
    const { text } = await askFor('select name from system.tables order by name format JSONCompactColumns')
    const [names] = JSON.parse(text) as [string[]]
    expect(names).toHaveLength(17)
    expect(names).toContain('contacts')
    expect((await askFor('show tables')).text.trim().split('\n')).toEqual(names)
  })

  test('every public view', async () => {
    const { text } = await askFor('show tables')
    const plain = text
      .trim()
      .split('\n')
      .filter((view) => !view.startsWith('event_'))
    expect(plain).toHaveLength(15)
    for (const view of plain)
      expect([view, (await askFor(`select count() from ${view} where business_id = '${business}'`)).status]).toEqual([
        view,
        200,
      ])
  })

  test.each([
    [`event_retention(business_id = {business: UUID}, first_event = '', return_event = 'order')`, ''],
    [
      `sluice.event_funnel(business_id = '${business}', events = ['signup', 'order'], window_seconds = 60)`,
      '1\tsignup\t0\n2\torder\t0\n',
    ],
  ])('a view with parameters: %s', async (view, answer) => {
    const query = `select * from ${view} order by 1`
    expect(await askFor(query, { parameters: { param_business: business } })).toEqual({ status: 200, text: answer })
  })

  test.each(['JSON', 'JSONEachRow', 'CSVWithNames', 'TSV', 'Native', 'RowBinaryWithNamesAndTypes', 'Parquet', 'Arrow'])(
    'in the format %s, by the statement, the URL and the header',
    async (format) => {
      const answers = await Promise.all([
        askFor(`select 1 as x format ${format}`),
        askFor('select 1 as x', { parameters: { default_format: format } }),
        askFor('select 1 as x', { headers: { 'x-clickhouse-format': format } }),
      ])
      for (const { status, text } of answers) expect([status, text.length > 0]).toEqual([200, true])
    },
  )

  test('with parameters, by GET, compressed, and with what tools say of their answers', async () => {
    const query = 'select first_name from contacts where business_id = {b: UUID} and first_name = {n: String}'
    const parameters = { param_b: business, param_n: 'Ann', database: 'default', client_protocol_version: '54460' }
    expect(await ask({ parameters: { ...parameters, query }, method: 'GET' })).toEqual({ status: 200, text: 'Ann\n' })
    const compressed = { parameters, headers: { 'content-encoding': 'gzip' } }
    expect(await askFor(gzipSync(query), compressed)).toEqual({ status: 200, text: 'Ann\n' })
    const client = createClient({ url: clickhouseAnalystUrl, compression: { response: true } })
    const result = await client.query({
      query: 'select count() as n from contacts where business_id = {b: UUID}',
      query_params: { b: business },
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0, max_execution_time: 600 },
    })
    expect(await result.json()).toMatchObject({ data: [{ n: 1 }] })
    await client.close()
  })
})

const FILE = '/etc/hostname'
const OUT = join(process.cwd(), 'analyst-escaped.txt')
/** Each statement would or might read or write data that the analyst has no access to. */
const ESCAPES: [string, Request | string][] = [
  ...[
    // Internal tables, with every form of name.
    'select word from sluice_internal.secrets',
    'select word from `sluice_internal`.`secrets`',
    'select word from "sluice_internal"."secrets"',
    'select word from sluice_internal /**/ . /**/ secrets',
    'select word from (select word from (select word from sluice_internal.secrets))',
    'with contacts as (select word from sluice_internal.secrets) select word from contacts',
    'select (select any(word) from sluice_internal.secrets)',
    `select ${textLiteral(SECRET)} || 'found' where ${textLiteral(SECRET)} in sluice_internal.secrets`,
    `select 'found' where ${textLiteral(SECRET)} in (sluice_internal.secrets)`,
    `select 'found' where ${textLiteral(SECRET)} global in sluice_internal.secrets`,
    'select 1 union all select word from sluice_internal.secrets',
    'select 1 as x intersect select length(word) from sluice_internal.secrets',
    'select word from contacts cross join sluice_internal.secrets',
    'select word from system.one as s left join sluice_internal.secrets on 1',
    'select s.word from sluice_internal.secrets as s array join [1] as a',
    'select count() from sluice_internal.secrets',
    'select 1 from sluice_internal.secrets limit 1',
    'select exists(select 1 from sluice_internal.secrets)',
    'select * from sluice_internal.contacts',
    'select * from sluice_internal.contact_redirects',
    'from sluice_internal.secrets select word',
    '(((select word from sluice_internal.secrets)))',
    'select word from secrets',
    "select columns('word') from sluice_internal.secrets",
    'select w[1] from (select groupArray(word) as w from sluice_internal.secrets)',
    // Table functions.
    "select * from merge('sluice_internal', 'secrets')",
    "select * from merge(REGEXP('sluice.*'), 'sec.*')",
    "select * from remote('127.0.0.1', sluice_internal.secrets)",
    "select * from cluster('default', sluice_internal.secrets)",
    'select * from view(select * from sluice_internal.secrets)',
    'select * from loop(sluice_internal.secrets)',
    "select * from mergeTreeIndex('sluice_internal', 'events')",
    "select * from dictionary('secrets')",
    `select * from file('${FILE}', 'LineAsString')`,
    "select * from url('http://127.0.0.1:1/', 'LineAsString')",
    "select * from executable('id', 'LineAsString', 'line String')",
    "select * from s3('http://127.0.0.1:1/x', 'CSV')",
    "select * from sqlite('/tmp/x', 'y')",
    "select * from postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "select * from input('a String')",
    "select * from format(LineAsString, 'found')",
    "select * from generateRandom('a String')",
    "select * from values('a String', 'found')",
    "select * from viewExplain('EXPLAIN', '', (select 1))",
    'select * from (explain select 1)',
    'select * from zeros(1)',
    // Functions that read data outside the views, with every form of call.
    `select file('${FILE}')`,
    `select FILE('${FILE}')`,
    `select \`file\`('${FILE}')`,
    `select arrayMap(file, ['${FILE}'])`,
    `select arrayMap(x -> file(x), ['${FILE}'])`,
    `with (x -> file(x)) as f select f('${FILE}')`,
    `with file as f select arrayMap(f, ['${FILE}'])`,
    `select * apply(file) from (select '${FILE}')`,
    `select * apply(x -> file(x)) from (select '${FILE}')`,
    `select columns('x') apply file from (select '${FILE}' as x)`,
    `select number from numbers(3) order by number with fill interpolate (file('${FILE}'))`,
    `select count() over (order by file('${FILE}'))`,
    `select 1 limit length(file('${FILE}'))`,
    `select sum(1) from numbers(1) group by file('${FILE}')`,
    "select dictGet('a', 'b', 1)",
    "select joinGet('sluice_internal.secrets', 'word', 1)",
    "select hasColumnInTable('sluice_internal', 'secrets', 'word')",
    "select getSetting('readonly')",
    "select getServerSetting('max_server_memory_usage')",
    "select getMacro('x')",
    "select catboostEvaluate('/x', 1)",
    'select hostName(), FQDN()',
    'select addressToLine(1)',
    'select filesystemAvailable()',
    'select sleep(1)',
    "select formatRow('CSV', 1)",
    "select aiGenerate('x')",
    'select getOSKernelVersion()',
    'select nobodyKnowsThis(1)',
    // What the engine reports about itself.
    'select * from system.processes',
    'select * from system.errors',
    'select * from system.settings',
    'select * from system.users',
    'select * from system.parts',
    'select * from system.stack_trace',
    'select * from `system`.`processes`',
    'select * from "system"."processes"',
    'select * from system . processes',
    'select 1 in system.processes',
    'select * from (select 1) as x, system.metrics',
    'select * from SYSTEM.processes',
    'describe table system.processes',
    'show tables from system',
    'show tables from sluice_internal',
    'show create table contacts',
    'show processlist',
    'show grants',
    'describe (select * from sluice_internal.secrets)',
    'describe table sluice_internal.secrets',
    'exists table sluice_internal.secrets',
    // Clauses.
    `select 1 into outfile '${OUT}'`,
    `select 1 into outfile '${OUT}' truncate`,
    `select 1 into/**/outfile '${OUT}' append format CSV`,
    `(select 1) union all (select 2) INTO OUTFILE '${OUT}' AND STDOUT`,
    'select 1 settings readonly = 0',
    'select 1 settings max_memory_usage = 0',
    'select 1 from (select 1 settings max_threads = 1)',
    'select 1 format JSON settings max_threads = 1',
    'select 1 format Template',
    'select 1 format CustomSeparated',
    'select 1 format Protobuf',
    // All statements other than SELECT.
    'set readonly = 0',
    'set role owner',
    'use sluice_internal',
    'explain select 1',
    'explain ast select 1',
    'insert into contacts (first_name) values (1)',
    'insert into sluice_internal.secrets values (1)',
    `insert into function file('${OUT}', 'CSV', 'a String') values (1)`,
    'create table t (a UInt8) engine = Memory',
    'create temporary table t (a UInt8) engine = Memory',
    'create view v as select 1',
    'create function f as x -> file(x)',
    'drop view contacts',
    'drop database sluice_internal',
    'alter table sluice_internal.secrets delete where 1',
    'truncate table sluice_internal.secrets',
    'rename table contacts to others',
    'optimize table sluice_internal.events',
    'system shutdown',
    'system flush logs',
    'kill query where 1',
    'grant all on *.* to default',
    "create user u identified by 'x'",
    'execute as default select 1',
    "backup table sluice_internal.secrets to File('/tmp/x')",
    'attach table x',
    'check table sluice_internal.events',
    'begin transaction',
    // More than one statement.
    'select 1; select word from sluice_internal.secrets',
    'select 1; set role owner',
    "select ''; set role owner --",
    "select '\\'; set role owner; select \\'",
    'select 1 parallel with drop view contacts',
    'select 1\0; set role owner',
    `select $$a$$; set role owner`,
    'select 1；select word from sluice_internal.secrets',
    'select\u00a0word from sluice_internal.secrets',
    'select `a\nTableIdentifier contacts` from sluice_internal.secrets',
    '',
  ].map((query): [string, string] => [query, query]),
  [
    'a table by parameter',
    {
      body: 'select word from {d: Identifier}.{t: Identifier}',
      parameters: { param_d: 'sluice_internal', param_t: 'secrets' },
    },
  ],
  ['the engine by parameter', { body: 'select * from {d: Identifier}.processes', parameters: { param_d: 'system' } }],
  [
    'a parameter that breaks out',
    { body: 'select {s: String} from nothing', parameters: { param_s: "'; set role owner; select '" } },
  ],
  ['?database=', { body: 'select word from secrets', parameters: { database: 'sluice_internal' } }],
  ['?database=system', { body: 'select * from processes', parameters: { database: 'system' } }],
  ['a database that breaks out', { body: 'select 1', parameters: { database: 'sluice; set role owner' } }],
  [
    'X-ClickHouse-Database',
    { body: 'select word from secrets', headers: { 'x-clickhouse-database': 'sluice_internal' } },
  ],
  ['?readonly=0', { body: 'select 1', parameters: { readonly: '0' } }],
  ['?max_memory_usage=0', { body: 'select 1', parameters: { max_memory_usage: '0' } }],
  ['?allow_ddl=1', { body: 'select 1', parameters: { allow_ddl: '1' } }],
  ['?additional_table_filters', { body: 'select 1', parameters: { additional_table_filters: "{'x':'1'}" } }],
  ['?format_schema', { body: 'select 1', parameters: { format_schema: '/etc/passwd' } }],
  ['?format_template_row', { body: 'select 1', parameters: { format_template_row: FILE } }],
  [
    'a setting with a name that breaks out',
    { body: 'select 1', parameters: { 'output_format_json_x = 1, readonly': '0' } },
  ],
  ['?role=owner', { body: 'select word from sluice_internal.secrets', parameters: { role: 'owner' } }],
  [
    'a session of its own',
    { body: 'select word from sluice_internal.secrets', parameters: { session_id: 'x', session_timeout: '60' } },
  ],
  ['?default_format=Template', { body: 'select 1', parameters: { default_format: 'Template' } }],
  ['a format that breaks out', { body: 'select 1', headers: { 'x-clickhouse-format': "CSV' settings" } }],
  ['the body behind the query of the URL', { body: '; set role owner', parameters: { query: 'select 1' } }],
  ['a query in two halves', { body: 'sluice_internal.secrets', parameters: { query: 'select word from ' } }],
  [
    'data beside the query',
    {
      body: '--x\r\ncontent-disposition: form-data; name="t"\r\n\r\n1\r\n--x--',
      parameters: { query: 'select * from t', t_structure: 'a String' },
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    },
  ],
  ['PUT', { body: 'select 1', method: 'PUT' }],
  ['DELETE', { method: 'DELETE', parameters: { query: 'select 1' } }],
  ['OPTIONS', { method: 'OPTIONS', parameters: { query: 'select 1' } }],
  ['more than 256 KiB', `select '${'x'.repeat(256 * 1024)}'`],
  [
    'more than 256 KiB when it is unpacked',
    { body: gzipSync(`select '${'x'.repeat(300_000)}'`), headers: { 'content-encoding': 'gzip' } },
  ],
]

describe('an analyst is refused', () => {
  test('there are many ways to try', () => {
    expect(ESCAPES.length).toBeGreaterThan(150)
  })

  test.each(ESCAPES)('%s', async (_, escape) => {
    const { status, text } = await ask(typeof escape === 'string' ? { body: escape } : escape)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).toMatch(/^Code: \d+\. DB::Exception: /)
    expect(text).not.toContain(SECRET)
    expect(existsSync(OUT)).toBe(false)
  })

  test.each<Record<string, string>>([
    { max_result_rows: '1', result_overflow_mode: 'break' },
    { extremes: '1' },
    { output_format_tsv_crlf_end_of_line: '1' },
  ])('with a limit or a format that would change what the check sees: %j', async (parameters) => {
    const long = `select ${'1, '.repeat(20_000)} file('${FILE}')`
    for (const body of [`select 1, file('${FILE}')`, 'select 1 settings readonly = 0', long])
      expect((await ask({ body, parameters })).text).toMatch(/not allowed/)
  })

  test('as another user, by any way to say who', async () => {
    const { password } = new URL(clickhouseAnalystUrl)
    for (const user of ['sluice', 'default', 'owner', '']) {
      const basic = { authorization: `Basic ${btoa(`${user}:${password}`)}` }
      expect((await askFor('select 1', { headers: basic })).status).toBe(403)
      const headers = { authorization: '', 'x-clickhouse-user': user, 'x-clickhouse-key': password }
      expect((await askFor('select 1', { headers })).status).toBe(403)
      const parameters = { user, password }
      expect((await askFor('select 1', { headers: { authorization: '' }, parameters })).status).toBe(403)
    }
    const named = { user: 'sluice', query: 'select word from sluice_internal.secrets' }
    expect((await ask({ parameters: named, method: 'GET' })).status).toBe(403)
  })

  test('what takes too long or too much', async () => {
    const slow = await askFor('select count() from numbers(100000000000) where sipHash64(number) = 1', {
      parameters: { max_execution_time: '1' },
    })
    expect(slow.text).toMatch(/TIMEOUT_EXCEEDED/)
    const large = await askFor(
      "select count() from (select repeat('x', 10000) || toString(number) from numbers(1000000000) group by all)",
    )
    expect(large.text).toMatch(/MEMORY_LIMIT_EXCEEDED|TIMEOUT_EXCEEDED/)
  })

  // These wait for the rest of their statements: real computing would occupy both processors.
  test('a fifth statement at once', async () => {
    const held = await Promise.all(Array.from({ length: 4 }, beginStatement))
    const others: string[] = []
    await vi.waitUntil(
      async () => {
        others.push((await askFor('select 1')).text)
        return others.at(-1)?.includes('TOO_MANY_SIMULTANEOUS_QUERIES')
      },
      { timeout: PATIENCE_MS },
    )
    // The earlier ones succeeded because fewer than four had begun.
    expect(others.slice(0, -1).filter((other) => other !== '1\n')).toEqual([])
    for (const line of held) line.say(REST)
    await Promise.all(held.map(({ ended }) => ended))
    for (const line of held) expect(line.heard()).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n2\n$/)
    expect((await askFor('select 1')).text).toBe('1\n')
  })
})

const BEGINNING = 'select'
const REST = ' 2'

/** Starts a request, and sends the beginning of its body. */
async function beginStatement(): Promise<Line> {
  const { origin, host, username, password } = new URL(clickhouseAnalystUrl)
  const line = await openLine(origin)
  const length = BEGINNING.length + REST.length
  const headers = [
    'POST / HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Basic ${btoa(`${username}:${password}`)}`,
    `Content-Length: ${length}`,
    'Connection: close',
  ]
  line.say(`${headers.join('\r\n')}\r\n\r\n${BEGINNING}`)
  return line
}

test('a query of an analyst does not affect the next connection of Sluice', async () => {
  await askFor('select 1')
  const result = await owner.query({
    query: "select getSetting('readonly') as r, currentRoles() as roles",
    format: 'JSONEachRow',
  })
  expect(await result.json()).toEqual([{ r: 0, roles: ['analyst', 'owner'] }])
})

test('no column of the public views has the name of a refused function', async () => {
  const result = await owner.query({
    query: `select distinct name from system.columns where database = 'sluice' order by name`,
    format: 'JSONEachRow',
  })
  const names = (await result.json<{ name: string }>()).map(({ name }) => name)
  for (const view of ['contacts', 'timeline', 'touches', 'web_hits', 'web_sessions'])
    expect((await askFor(`select * from ${view} limit 0`)).status).toBe(200)
  const columns = names.map((name) => `1 as \`${name}\``).join(', ')
  expect(
    await askFor(`select ${names.map((name) => `\`${name}\``).join(', ')} from (select ${columns}) limit 0`),
  ).toMatchObject({
    status: 200,
  })
})

describe('on a ClickHouse server of one’s own', () => {
  test('the statements that let an analyst in are read by the parser, and name every public view', async () => {
    const statements = await analystStatements(owner, "it's \\ secret")
    expect(statements).toHaveLength(2 + 17)
    for (const statement of statements) {
      const result = await owner.query({
        query: `select formatQuerySingleLine(${textLiteral(statement)}) as q`,
        format: 'JSONEachRow',
      })
      const [row] = await result.json<{ q: string }>()
      expect(row?.q).toMatch(
        /^(?:CREATE USER IF NOT EXISTS analyst|ALTER USER analyst|GRANT SELECT ON sluice\.\w+ TO analyst$)/,
      )
    }
  })

  test('two installations on one server have each an analyst of its own', async () => {
    const other = connectClickHouse(new URL('/crm', clickhouseUrl).href)
    const users = async (client: typeof owner) =>
      new Set((await analystStatements(client, 'x')).map((one) => /(?:if not exists|user|to) (`\S+`)/.exec(one)?.[1]))
    expect([await users(owner), await users(other)]).toEqual([new Set(['`analyst`']), new Set(['`analyst_crm`'])])
    await other.close()
  })

  test('the settings of the user are those of the engine', async () => {
    const [create = ''] = await analystStatements(owner, 'x')
    const settings = create.slice(create.indexOf(' settings ') + ' settings '.length)
    await owner.command({ query: `select 1 settings ${settings}` })
  })

  test('where no user can be made, the log says what to run, without the password', async () => {
    const lines: unknown[] = []
    const log = { info: () => undefined, warn: (...line: unknown[]) => lines.push(line) } as unknown as Logger
    await grantAnalyst(owner, log, 'hush-hush')
    expect(JSON.stringify(lines)).toContain('run these statements as an administrator of ClickHouse')
    expect(JSON.stringify(lines)).toContain('grant select on `sluice`.`contacts` to `analyst`')
    expect(JSON.stringify(lines)).not.toContain('hush')
  })
})
