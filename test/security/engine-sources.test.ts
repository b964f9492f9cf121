/** What Sluice's own user of the embedded ClickHouse must not access: files, programs and other servers. */
import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { shapeOf } from '../../src/embedded/clickhouse/check-statement.ts'
import { additionalTableFilters } from '../../src/timeline/reading/table-filters.ts'
import { type Stack, openStack } from '../support/stack.ts'

const SECRET = `secret-${crypto.randomUUID()}`
const { origin, username, password } = new URL(inject('stores').clickhouseUrl)
let stack: Stack
let asked = 0
const other = createServer((_, response) => {
  asked += 1
  response.end(SECRET)
})
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-sources-'))
  await writeFile(join(folder, 'secret'), SECRET, { mode: 0o644 })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  stack = await openStack({}, { ownClickHouse: true })
  await stack.clickhouse.command({ query: 'create table notes (word String) engine = MergeTree order by word' })
})
afterAll(async () => {
  other.close()
  await stack.close()
})

interface Escape {
  body?: string
  parameters?: Record<string, string>
  method?: string
}

async function ask({ body, parameters = {}, method = 'POST' }: Escape): Promise<{ status: number; text: string }> {
  const query = new URLSearchParams({ database: stack.clickhouse.databases.internal, ...parameters })
  const answer = await fetch(`${origin}/?${query.toString()}`, {
    method,
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}` },
    ...(body !== undefined && { body }),
  })
  return { status: answer.status, text: await answer.text() }
}

/**
 * FILE, OUT and HERE stand for a file that everyone may read, a file that does not exist, and the address of another
 * server.
 */
const ESCAPES: (string | Escape)[] = [
  // The function, which needs no grant, with every form of name.
  "select file('FILE')",
  "select FILE('FILE')",
  "select `file`('FILE')",
  "select `fi\\x6ce`('FILE')",
  'select "file"(\'FILE\')',
  "select file/**/('FILE')",
  "select arrayMap(file, ['FILE'])",
  "select arrayMap(x -> file(x), ['FILE'])",
  "with (x -> file(x)) as f select f('FILE')",
  "select * apply(file) from (select 'FILE')",
  "select * apply(x -> file(x)) from (select 'FILE')",
  "select 'FILE' as x where length(file(x)) > 0",
  "select (select file('FILE'))",
  "select 1; select file('FILE')",
  "select 1;\n\nselect file('FILE') format TSV",
  "insert into notes select file('FILE')",
  "insert into notes values (file('FILE'))",
  "insert into notes values ('a'), (assumeNotNull(file('FILE')))",
  "insert into notes settings input_format_values_interpret_expressions = 1 values (file('FILE'))",
  "insert into notes (word) values (concat(file('FILE'), ''))",
  "alter table notes update word = file('FILE') where 1",
  "alter table notes delete where length(file('FILE')) > 0",
  "alter table notes add column other String default file('FILE')",
  "create table n2 (word String default file('FILE')) engine = MergeTree order by word",
  "create table n2 (word String materialized file('FILE')) engine = MergeTree order by tuple()",
  "create table n2 engine = MergeTree order by tuple() as select file('FILE') as word",
  "create view n2 as select file('FILE') as word",
  "create materialized view n2 to notes as select file('FILE') as word from notes",
  'create function readIt as x -> file(x)',
  "explain select file('FILE')",
  "select * from viewExplain('EXPLAIN', '', (select file('FILE')))",
  "select * from format(Values, 'a String', $$(file('FILE'))$$)",
  "select * from format(Values, 'a String', $$(assumeNotNull(file('FILE')))$$)",
  "select * from eval('select file(\\'FILE\\')')",
  "select * from eval('select file(\\'FILE\\')') settings allow_experimental_eval_table_function = 1",
  `select 1 settings additional_result_filter = 'length(file(\\'FILE\\')) > 0'`,
  `select * from notes settings additional_table_filters = {'notes': 'length(file(\\'FILE\\')) > 0'}`,
  `select * from notes settings additional_table_filters = {'notes': 'length(f\\\\x69le(\\'FILE\\')) > 0'}`,
  `select * from notes settings additional_table_filters = {'notes': 'length(\`fi\\\\x6ce\`(\\'FILE\\')) > 0'}`,
  `select * from notes settings additional_table_filters = {'a{}': '1', 'notes': 'length(file(\\'FILE\\')) > 0'}`,
  `select * from notes settings additional_table_filters = {'notes': '1 and\n\tlength(file(\\'FILE\\')) > 0 or\n1'}`,
  `select * from notes settings additional_table_filters = {'notes': '1 and\\nlength(file(\\'FILE\\')) > 0'}`,
  `select * from notes settings additional_table_filters = {'notes': '\\nfile(\\'FILE\\') = 1'}`,
  `select 'additional_table_filters = {' from notes settings additional_table_filters = {'}': '', 'notes': 'length(file(\\'FILE\\')) > 0'}`,
  "select 1 as `'`, file('FILE'), 3 as `'`",
  `select 1 from (select * from notes settings additional_table_filters = {'notes': 'length(file(\\'FILE\\')) > 0'})`,
  `set additional_table_filters = {'notes': 'length(file(\\'FILE\\')) > 0'}`,
  {
    body: 'select * from notes',
    parameters: { additional_table_filters: `{'notes': 'length(file(\\'FILE\\')) > 0'}` },
  },
  { body: 'select * from notes', parameters: { additional_table_filters: `{'notes': 'fil\\x65(\\'FILE\\') != 0'}` } },
  { body: 'select 1', parameters: { additional_result_filter: `length(file('FILE')) > 0` } },
  { body: "insert into notes values (file('FILE'))", parameters: { input_format_values_interpret_expressions: '1' } },
  { body: "(file('FILE'))", parameters: { query: 'insert into notes values' } },
  { body: "; select file('FILE')", parameters: { query: 'select 1' } },
  { method: 'GET', parameters: { query: "select file('FILE')" } },
  { body: 'select file({f: String})', parameters: { param_f: 'FILE' } },
  // Clauses and formats with a path.
  "insert into notes from infile 'FILE' format LineAsString",
  "insert into notes from infile 'FILE' compression 'none' format LineAsString",
  "insert into notes settings async_insert = 0 from infile 'FILE' format LineAsString",
  "insert into notes settings async_insert = 0; insert into notes from infile 'FILE' format LineAsString",
  "select 1 into outfile 'OUT'",
  "select 1 into/**/outfile 'OUT' truncate format CSV",
  "select 1 format Template settings format_template_row = 'FILE'",
  "select 1 format Protobuf settings format_schema = 'FILE:X'",
  "select 1 format Protobuf settings format_schema_source = 'query', format_schema = 'select 1'",
  { body: 'select 1 format Template', parameters: { format_template_row: 'FILE' } },
  { body: 'select 1 format CapnProto', parameters: { format_schema: 'FILE:X' } },
  // Table functions.
  "select * from file('FILE', 'LineAsString')",
  "select * from 'FILE'",
  "select * from file('FILE', 'LineAsString', 'line String')",
  "select * from filesystem('/etc')",
  "select * from fileCluster('default', 'FILE', 'LineAsString')",
  "insert into function file('OUT', 'CSV', 'a String') values ('x')",
  "insert into table function file('OUT', 'CSV', 'a String') select 'x'",
  "insert into function url('HERE', 'CSV', 'a String') values ('x')",
  "select * from url('HERE', 'LineAsString')",
  "select * from url('HERE', 'LineAsString', 'line String')",
  "select * from urlCluster('default', 'HERE', 'LineAsString')",
  "select * from executable('id', 'LineAsString', 'line String')",
  "create table n2 as executable('id', 'LineAsString', 'line String')",
  "create table n2 as url('HERE', 'LineAsString', 'line String')",
  "select * from remote('127.0.0.1', system.one)",
  "select * from remoteSecure('127.0.0.1', system.one)",
  "select * from cluster('default', system.one)",
  "select * from clusterAllReplicas('default', system.one)",
  "select * from s3('HEREbucket/x', 'CSV', 'a String')",
  "select * from gcs('HEREbucket/x', 'CSV', 'a String')",
  "select * from azureBlobStorage('HERE', 'bucket', 'x', 'a', 'YQ==', 'CSV')",
  "select * from hdfs('hdfs://127.0.0.1:1/x', 'CSV', 'a String')",
  "select * from iceberg('HEREbucket/x')",
  "select * from icebergLocal('/etc')",
  "select * from deltaLake('HEREbucket/x')",
  "select * from deltaLakeLocal('/etc')",
  "select * from hudi('HEREbucket/x')",
  "select * from paimonLocal('/etc')",
  "select * from sqlite('FILE', 'y')",
  "select * from mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "select * from postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "select * from mongodb('127.0.0.1:1', 'a', 'b', 'c', 'd', 'a String')",
  "select * from redis('127.0.0.1:1', 'k', 'k String')",
  "select * from odbc('DSN=x', 'a', 'b')",
  "select * from jdbc('jdbc:x', 'a', 'b')",
  "select * from ytsaurus('HERE', '//x', 'token', 'a String')",
  "select * from arrowstream('x')",
  "select * from dictionary('x')",
  "select * from input('a String')",
  "select aiGenerate('x') settings allow_experimental_ai_functions = 1",
  // Tables, databases and disks in other places.
  "create table n2 (a String) engine = File(LineAsString, 'FILE')",
  "create table n2 (a String) engine = URL('HERE', 'CSV')",
  "create table n2 (a String) engine = Executable('id', 'CSV')",
  "create table n2 (a String) engine = ExecutablePool('id', 'CSV')",
  "create table n2 (a String) engine = S3('HEREbucket/x', 'CSV')",
  "create table n2 (a String) engine = MySQL('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "create table n2 (a String) engine = Kafka('127.0.0.1:1', 't', 'g', 'CSV')",
  "create table n2 (a String) engine = Distributed('default', 'system', 'one')",
  "create table n2 (a String) engine = `File`(LineAsString, 'FILE')",
  "create temporary table n2 (a String) engine = File(LineAsString, 'FILE')",
  "create table n2 (a UInt8) engine = MergeTree order by a settings disk = disk(type = local, path = '/tmp/')",
  "create table n2 (a UInt8) engine = MergeTree order by a settings disk = disk(type = web, endpoint = 'HERE')",
  "alter table notes modify setting disk = disk(type = web, endpoint = 'HERE')",
  "create database sluice_x engine = SQLite('FILE')",
  "create database sluice_x engine = Filesystem('/etc')",
  "create database sluice_x engine = PostgreSQL('127.0.0.1:1', 'a', 'b', 'c')",
  "create database sluice_x engine = DataLakeCatalog('HERE')",
  'create database elsewhere',
  'create table default.n2 (a UInt8) engine = Memory',
  "attach table n2 from '/etc' (a UInt8) engine = MergeTree order by a",
  "backup table notes to File('OUT')",
  "backup table notes to Disk('default', 'OUT')",
  "restore table notes from File('FILE')",
  "create dictionary n2 (k UInt64, v String) primary key k source(file(path 'FILE' format 'CSV')) layout(flat()) lifetime(0)",
  "create dictionary n2 (k UInt64, v String) primary key k source(http(url 'HERE' format 'CSV')) layout(flat()) lifetime(0)",
  "create dictionary n2 (k UInt64, v String) primary key k source(executable(command 'id' format 'CSV')) layout(flat()) lifetime(0)",
  "create named collection x as url = 'HERE'",
  // More rights.
  'grant all on *.* to default',
  'grant read, write on file to default',
  'create user x',
  "create user x identified by 'x'",
  "set dialect = 'kusto'",
  "set dialect = 'prql'",
  { body: 'print 1', parameters: { dialect: 'kusto', allow_experimental_kusto_dialect: '1' } },
  "select file('FILE') settings role = 'x'",
  'system shutdown',
  'system reload config',
  "select 1\0; select file('FILE')",
  "execute as default select file('FILE')",
]

const OUT_NAME = 'escaped'
function fill(text: string): string {
  const { port } = other.address() as AddressInfo
  return text
    .replaceAll('FILE(', '\u0001(')
    .replaceAll('FILE', join(folder, 'secret'))
    .replaceAll('\u0001(', 'FILE(')
    .replaceAll('OUT', join(folder, OUT_NAME))
    .replaceAll('HERE', `http://127.0.0.1:${port}/`)
}

describe("Sluice's own user of the engine", () => {
  test.each(ESCAPES.map((one) => (typeof one === 'string' ? { body: one } : one)))('may not: %j', async (escape) => {
    const before = asked
    const { status, text } = await ask({
      ...escape,
      ...(escape.body !== undefined && { body: fill(escape.body) }),
      parameters: Object.fromEntries(Object.entries(escape.parameters ?? {}).map(([key, value]) => [key, fill(value)])),
    })
    expect([status >= 400, text]).toEqual([true, expect.stringMatching(/^Code: \d+\. DB::Exception: /)])
    expect(text).not.toContain(SECRET)
    expect(asked).toBe(before)
    expect(existsSync(join(folder, OUT_NAME))).toBe(false)
  })

  test('has read no data into a table', async () => {
    expect(await ask({ body: 'select count() from notes' })).toEqual({ status: 200, text: '0\n' })
    expect((await ask({ body: 'show tables' })).text).not.toContain('n2')
    expect((await ask({ body: 'select currentRoles() settings max_threads = 1' })).text).toBe("['analyst','owner']\n")
  })

  test.each([
    "select 'file', 'into outfile', 'url(x)'",
    'select 1;',
    'select * from numbers(2) as n where number in (select 1)',
    `select * from notes settings ${additionalTableFilters({ notes: "word = 'it\\'s {a}'" })}`,
    `select * from notes settings ${additionalTableFilters({ notes: "word = '1'\n\tor word = ''" })}`,
    "insert into notes values ('file(x)')",
    `select '${'x'.repeat(300_000)}' settings max_query_size = 1000000`,
  ])('may: %.80s', async (body) => {
    const parameters = { max_query_size: '1000000' }
    expect(await ask({ body, parameters })).toMatchObject({ status: 200 })
  })

  // Literals that a careless parser would locate incorrectly.
  test.each([
    ["select 1 -- '\n, 2 -- '\n", "select 1 -- '\n, file(word) -- '\n"],
    ["select 1 /* ' */ , 2 /* ' */", "select 1 /* ' */ , file(word) /* ' */"],
    ["select 1 # '\n, 2 # '\n", "select 1 # '\n, file(word) # '\n"],
    ["select $$'$$, 2, $$'$$", "select $$'$$, file(word), $$'$$"],
    [String.raw`select '\'', 2, '\''`, String.raw`select '\'', file(word), '\''`],
    ["select 1 as `'`, 2, 3 as `''`", "select 1 as `'`, file(word), 3 as `''`"],
    [`select 1 as "'", 2, 3 as "''"`, `select 1 as "'", file(word), 3 as "''"`],
    ["select ‘'’, 2, ‘'’", "select ‘'’, file(word), ‘'’"],
  ])('may ask %j, and then not %j', async (allowed, refused) => {
    for (let n = 0; n < 2; n++) expect(await ask({ body: `${allowed} from notes` })).toMatchObject({ status: 200 })
    const { status, text } = await ask({ body: `${refused} from notes` })
    expect([status, text]).toEqual([403, expect.stringContaining('not allowed: file')])
  })
})

describe('a statement is judged', () => {
  const selectOf = (ids: string[]) =>
    `select 1 from events where id in (${ids.map((id) => `'${id}'`).join(', ')}) limit 5`

  test('once for all ids, and lists of ids, that stand in it', () => {
    const shape = "select 1 from events where id in ('') limit 5"
    for (const ids of [['a'], ['file(x)', 'b', '-- /* ‘'], Array.from({ length: 100_000 }, String)])
      expect(shapeOf(selectOf(ids))).toBe(shape)
  })

  test.each([
    "select 1 -- 'a'\n",
    "select 1 /* 'a' */",
    "select 1 # 'a'",
    String.raw`select 'a\'b', 'c'`,
    "select $a$'$a$, 'a'",
    "select `'`, 'a'",
    `select "'", 'a'`,
    "select ‘'’, 'a'",
    "select 'a'; select 'b'",
    "select 'a', '",
    `select * from notes settings ${additionalTableFilters({ notes: 'word = 1' })}`,
  ])('by its whole text: %j', (statement) => expect(shapeOf(statement)).toBe(statement))
})
