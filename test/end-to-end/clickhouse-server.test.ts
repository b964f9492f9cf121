/** The embedded ClickHouse, as its clients see it: it behaves like a server. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type ClickHouseSettings, createClient } from '@clickhouse/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { openStack, type Stack } from '../support/stack.ts'

let stack: Stack
let client: ClickHouseClient

beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
  client = stack.clickhouse
})
afterAll(() => stack.close())

async function rows<T>(
  query: string,
  options: { query_params?: Record<string, unknown>; clickhouse_settings?: ClickHouseSettings } = {},
) {
  const result = await client.query({ query, format: 'JSONEachRow', ...options })
  return await result.json<T>()
}

/** A plain request, as curl sends it. */
async function post(
  parameters: Record<string, string>,
  body: string | Uint8Array = '',
  headers: Record<string, string> = {},
) {
  const url = new URL(stack.clickhouseUrl)
  const { username, password, pathname } = url
  const query = new URLSearchParams({ database: `${pathname.slice(1)}_internal`, ...parameters })
  const authorization = `Basic ${btoa(`${username}:${password}`)}`
  const answer = await fetch(`${url.origin}/?${query.toString()}`, {
    method: 'POST',
    body: Buffer.from(body),
    headers: { authorization, ...headers },
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** Sends these bytes unchanged, and hangs up after a moment. Resolves with the bytes received until then. */
async function sendAndLeave(bytes: string): Promise<string> {
  const { port } = new URL(stack.clickhouseUrl)
  const socket = connect(Number(port), '127.0.0.1')
  let answer = ''
  socket.on('error', () => undefined).on('data', (part: Buffer) => (answer += part.toString()))
  await once(socket, 'connect')
  socket.write(bytes)
  await sleep(200)
  socket.destroy()
  await sleep(300)
  return answer
}

describe('settings and parameters', () => {
  test('hold for their own query alone', async () => {
    const setting = "select getSetting('max_threads') as threads, getSetting('insert_deduplication_token') as token"
    const own = { clickhouse_settings: { max_threads: 7, insert_deduplication_token: "it's" } }
    const [before] = await rows(setting)
    expect(await rows(setting, own)).toEqual([{ threads: 7, token: "it's" }])
    expect(await rows(setting)).toEqual([before])
  })

  test.each([
    'plain',
    '',
    "it's",
    'back\\slash',
    'a\\tb',
    'tab\there',
    'new\nline',
    '\\N',
    'é😀',
    "'; select 2 --",
    '{x:String}',
  ])('brings the parameter %j through unchanged', async (value) => {
    expect(await rows('select {value:String} as value', { query_params: { value } })).toEqual([{ value }])
  })

  test('keep apart what runs at the same time', async () => {
    const numbers = Array.from({ length: 60 }, (_, n) => n)
    const read = await Promise.all(numbers.map((n) => rows('select {n:UInt32} as n', { query_params: { n } })))
    expect(read.flat()).toEqual(numbers.map((n) => ({ n })))
  })
})

describe('an insert', () => {
  beforeEach(async () => {
    await client.command({ query: 'drop table if exists items sync' })
    await client.command({
      query: `create table items (id UInt64, text String) engine = MergeTree order by id
        settings non_replicated_deduplication_window = 100, fsync_after_insert = 1`,
    })
  })
  const count = async () => Number((await rows<{ n: string }>('select count() as n from items'))[0]?.n)

  test('is stored once for one token', async () => {
    const values = Array.from({ length: 500 }, (_, id) => ({ id, text: "tab\t, quote ', line\n\n, ;" }))
    for (const token of ['a', 'a', 'b']) {
      const clickhouse_settings = { insert_deduplication_token: token }
      await client.insert({ table: 'items', values, format: 'JSONEachRow', clickhouse_settings })
    }
    expect(await count()).toBe(1000)
    expect(await rows('select distinct text from items')).toEqual([{ text: values[0]?.text }])
  })

  test('is stored completely or not at all', async () => {
    const lines = Array.from({ length: 200_000 }, (_, id) => `{"id":${id},"text":"x"}`)
    const refused = await post({ query: 'INSERT INTO items FORMAT JSONEachRow' }, [...lines, '{"id":"x"}'].join('\n'))
    expect(refused.status).toBe(400)
    expect(await count()).toBe(0)
  })

  test.each([
    ['a length', (part: string) => `content-length: 100000\r\n\r\n${part}`],
    ['chunks', (part: string) => `transfer-encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n${part}\r\n`],
  ])('whose client dies in the middle of it leaves nothing (%s)', async (_, bodyOf) => {
    const { username, password, pathname } = new URL(stack.clickhouseUrl)
    const head = `POST /?database=${pathname.slice(1)}_internal&insert_deduplication_token=cut HTTP/1.1\r\nhost: x\r\nauthorization: Basic ${btoa(`${username}:${password}`)}\r\n`
    await sendAndLeave(head + bodyOf('insert into items format JSONEachRow\n{"id":1,"text":"x"}\n'))
    expect(await count()).toBe(0)
  })

  test('is read whole, empty lines and all, compressed or not', async () => {
    const csv = '1,"a\n\nb;"\n2,"c"\n'
    const plain = await post({ query: 'INSERT INTO items (id, text) FORMAT CSV' }, csv)
    expect(JSON.parse(plain.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '2' })
    await post({ query: 'INSERT INTO items FORMAT CSV' }, gzipSync(csv.toUpperCase()), { 'content-encoding': 'gzip' })
    await post({}, `-- the whole statement\ninsert into items(id, text) values (3, 'format values'),\n\n(4, 'd')`)
    await post({}, "insert into items select number, 'e' from numbers(2)")
    expect(await count()).toBe(8)
  })

  test.each([-1, 0, 1, 2, 12, 13].map((past) => 16 * 1024 + past))(
    'is found where it ends after %i bytes of statement',
    async (bytes) => {
      const statement = 'insert into items format JSONEachRow\n'
      const text = 'é'.repeat(20_000)
      const said = `${' '.repeat(bytes - statement.length)}${statement}${JSON.stringify({ id: 1, text })}`
      expect((await post({}, said)).status).toBe(200)
      expect(await rows('select text from items')).toEqual([{ text }])
    },
  )
})

describe('an answer', () => {
  test('is given to any text in a request line', async () => {
    expect(await sendAndLeave('GET // HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 500 /)
  })

  test.each([
    ['select * from nothing_like_it', 404, '60'],
    ['select from where', 400, '62'],
    ["select toUInt8('x')", 400, '6'],
    ['select throwIf(1)', 500, '395'],
  ])('reports the fault of %j', async (statement, status, code) => {
    const answer = await post({}, statement)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe(code)
    expect(answer.text).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: `))
  })

  test('is refused to strangers, and to GET that would write', async () => {
    expect(await post({}, 'select 1', { authorization: `Basic ${btoa('sluice:wrong')}` })).toMatchObject({
      status: 403,
    })
    const { origin, username, password } = new URL(stack.clickhouseUrl)
    const query = new URLSearchParams({ user: username, password, query: 'create table t (x Int8) engine = Memory' })
    expect(await (await fetch(`${origin}/?${query.toString()}`)).text()).toContain('READONLY')
  })

  test('comes in the format and the compression asked for', async () => {
    expect(await post({ default_format: 'JSONEachRow' }, 'select 1 as x')).toMatchObject({ text: '{"x":1}\n' })
    const compressed = createClient({ url: stack.clickhouseUrl, compression: { request: true, response: true } })
    const result = await compressed.query({ query: 'select number from numbers(3)', format: 'JSON' })
    expect(await result.json()).toMatchObject({ rows: 3 })
    await compressed.close()
  })
})
