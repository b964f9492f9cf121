/**
 * How `admin import` behaves towards a service that is busy, broken or unreachable. The service here is a stand-in that
 * keeps the events it receives, by key.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { runAdminQuietly } from './run-admin.ts'

interface Sent {
  idempotencyKey: string
  businessId: string
  value: number
}
/** Answers a request without recording it, or leaves it unanswered. Returns false to let it be recorded. */
type Interruption = (response: ServerResponse, request: number, events: Sent[]) => boolean

const BUSINESS = '0199a0f4-0000-7000-8000-000000000001'
const ROWS = 2_150

let directory = ''
let interrupt: Interruption = () => false
let requests = 0
let inFlight = 0
let mostInFlight = 0
const recorded = new Map<string, Sent>()
const server = createServer((request, response) => void take(request, response))

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const number = ++requests
  mostInFlight = Math.max(mostInFlight, ++inFlight)
  // Undefined when the caller hung up before the end.
  const body = await json(request).catch(() => undefined)
  if (body === undefined) return
  const { events } = body as { events: Sent[] }
  await new Promise((resolve) => setTimeout(resolve, 5))
  inFlight--
  if (!interrupt(response, number, events)) reply(response, 200, { data: record(events) })
}

function record(events: Sent[]): object {
  const failures = events.flatMap(({ value }, index) => (value === 13 ? [{ index, error: 'unlucky' }] : []))
  const fresh = events.filter((event) => {
    if (event.value === 13 || recorded.has(event.idempotencyKey)) return false
    recorded.set(event.idempotencyKey, event)
    return true
  })
  const deduped = events.length - fresh.length - failures.length
  return { received: events.length, recorded: fresh.length, deduped, failed: failures.length, failures }
}

function reply(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-import-'))
  interrupt = () => false
  requests = inFlight = mostInFlight = 0
  recorded.clear()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const rows = Array.from({ length: ROWS }, (_, index) => `c${index % 100},2024-01-01,${index + 100}`)
  writeFileSync(join(directory, 'orders.csv'), ['customer,date,amount', ...rows, ''].join('\n'))
})
afterEach(async () => {
  rmSync(directory, { recursive: true })
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

interface Summary {
  warnings: string[]
  received: number
  recorded: number
  deduped: number
  failed: number
  failures: { row: number; error: string }[]
  failuresFile: string
  error: { code: string; message: string }
}

const FIELDS = ['platformCustomerId', 'occurredAt', 'value']

function describeRun(options: string[]): { argv: string[]; environment: Record<string, string> } {
  const { port } = server.address() as AddressInfo
  const maps = ['customer', 'date', 'amount'].map((column, index) => `${FIELDS[index]}=${column}`)
  const words = maps.flatMap((text) => ['--map', text])
  const file = join(directory, 'orders.csv')
  return {
    argv: ['import', file, '--business', BUSINESS, ...words, '--set', 'event=purchase', '--json', ...options],
    environment: { DATA_DIR: join(directory, 'data'), PORT: String(port), SLUICE_API_KEY: 'sk_live_test' },
  }
}

async function runImport(...options: string[]): Promise<{ exitCode: number; summary: Summary }> {
  const { argv, environment } = describeRun(options)
  const { exitCode, out } = await runAdminQuietly(argv, readConfig(environment))
  expect(out).toMatch(/^[^\n]+\n$/)
  return { exitCode, summary: JSON.parse(out) as Summary }
}

/** Runs the import in a process of its own. */
function launchImport(...options: string[]): ChildProcess {
  const { argv, environment } = describeRun(options)
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
  return spawn(process.execPath, [cli, 'admin', ...argv], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

const ALL_NEW = { received: ROWS, recorded: ROWS, deduped: 0, failed: 0 }

test('sends 500 rows a request, several at a time, each with a key and its business', async () => {
  const { exitCode, summary } = await runImport()
  expect(exitCode).toBe(0)
  expect(summary).toMatchObject(ALL_NEW)
  expect([requests, recorded.size]).toEqual([5, ROWS])
  expect(mostInFlight).toBeGreaterThan(1)
  expect(mostInFlight).toBeLessThanOrEqual(4)
  expect([...recorded.values()].every(({ businessId }) => businessId === BUSINESS)).toBe(true)
})

test('a second run finds everything known', async () => {
  await runImport()
  expect((await runImport()).summary).toMatchObject({ received: ROWS, recorded: 0, deduped: ROWS, failed: 0 })
  expect(readdirSync(join(directory, 'data', 'imports'))).toEqual([])
})

test('waits with all its requests as long as a full rate limit asks', async () => {
  const refusedAt: number[] = []
  const takenAt: number[] = []
  interrupt = (response, number) => {
    if (number !== 2) return takenAt.push(Date.now()) === 0
    refusedAt.push(Date.now())
    return reply(response, 429, {}, { 'retry-after': '1' })
  }
  const { summary } = await runImport('--parallel', '1')
  expect(summary).toMatchObject(ALL_NEW)
  const [second = 0] = takenAt.slice(1)
  expect(second - (refusedAt[0] ?? 0)).toBeGreaterThanOrEqual(990)
})

test.each<[string, Interruption]>([
  ['is overloaded', (response, number) => number <= 2 && reply(response, 503, {})],
  ['is behind', (response, number) => number === 1 && reply(response, 202, { data: { queued: true } })],
  ['breaks off before it records', (response, number) => number === 3 && Boolean(response.socket?.destroy())],
])('a service that %s gets the same rows again', async (_what, interruption) => {
  interrupt = interruption
  const { exitCode, summary } = await runImport()
  expect([exitCode, summary.received, summary.recorded, recorded.size]).toEqual([0, ROWS, ROWS, ROWS])
})

test('a service that breaks off after it recorded records nothing twice', async () => {
  interrupt = (response, number, events) =>
    number === 2 && Boolean(record(events)) && Boolean(response.socket?.destroy())
  const { exitCode, summary } = await runImport()
  expect([exitCode, recorded.size]).toEqual([0, ROWS])
  expect(summary.recorded + summary.deduped).toBe(ROWS)
  expect(summary.deduped).toBeGreaterThanOrEqual(150)
})

test('gives up on a service that is away, and goes on where it stopped', async () => {
  interrupt = (response, number) => number > 2 && Boolean(response.socket?.destroy())
  const stopped = await runImport('--patience', '1', '--parallel', '1')
  expect([stopped.exitCode, stopped.summary.error.code]).toEqual([1, 'gave_up'])
  expect(recorded.size).toBe(1_000)
  interrupt = () => false
  requests = 0
  const { argv, environment } = describeRun(['--parallel', '1'])
  const { out } = await runAdminQuietly(
    argv.filter((word) => word !== '--json'),
    readConfig(environment),
  )
  expect(out).toBe(`In total, with the previous run: ${ROWS} rows: ${ROWS} recorded, 0 already known, 0 failed\n`)
  expect([requests, recorded.size]).toEqual([3, ROWS])
})

/** A file as a shop writes it: an order has a row for each item, and only the first one has its total and its date. */
function writeShopOrders(): string {
  const file = join(directory, 'shop.csv')
  const orders = Array.from({ length: 750 }, (_, at) => `#${at},c${at},2024-09-03,799\n#${at},c${at},,\n`)
  writeFileSync(file, `order,customer,date,amount\n#first,c,2024-09-03,799\n${orders.join('')}`)
  return file
}

const describeShopRun = (file: string, ...options: string[]) => {
  const { argv, environment } = describeRun(['--map', 'idempotencyKey=order', ...options])
  return { argv: argv.with(1, file), config: readConfig(environment) }
}

test.each([[[]], [['--set', 'occurredAt=2024-09-03']], [['--without-time', 'skip']]])(
  'an order in two rows is recorded as its first one, also when the request with it is slow: %j',
  async (options) => {
    // The third request ends with the first row of an order, the fourth begins with its second row.
    interrupt = (response, number, events) => {
      if (number !== 3) return false
      setTimeout(() => reply(response, 200, { data: record(events) }), 300)
      return true
    }
    const { argv, config } = describeShopRun(writeShopOrders(), '--allow-failures', ...options)
    const { exitCode, out } = await runAdminQuietly(argv, config)
    expect(exitCode).toBe(0)
    const skips = options.includes('skip')
    const counts = { recorded: 751, leftOut: skips ? 750 : 0, received: skips ? 751 : 1501 }
    expect(JSON.parse(out)).toMatchObject({ ...counts, failed: options.length === 0 ? 750 : 0 })
    expect(recorded.size).toBe(751)
    const orders = [...recorded.values()] as (Sent & { occurredAt?: string })[]
    expect(orders.filter(({ value, occurredAt }) => value !== 799 || occurredAt !== '2024-09-03')).toEqual([])
  },
)

test('goes on behind the rows that were left out', async () => {
  const { argv, config } = describeShopRun(writeShopOrders(), '--without-time', 'skip', '--batch-size', '100')
  interrupt = (response, number) => number > 3 && Boolean(response.socket?.destroy())
  const stopped = await runAdminQuietly([...argv, '--patience', '1', '--parallel', '1'], config)
  expect([stopped.exitCode, recorded.size]).toEqual([1, 300])
  interrupt = () => false
  const { out } = await runAdminQuietly(argv, config)
  expect(JSON.parse(out)).toMatchObject({ received: 751, recorded: 751, deduped: 0, leftOut: 750 })
})

test('counts warnings, and says what to do about keys of other events', async () => {
  const warnings = Array.from({ length: 12 }, (_, at) => `item ${at}: idempotencyKey is that of "purchase"`)
  interrupt = (response, number, events) =>
    number === 5 && reply(response, 200, { data: { ...record(events), warnings } })
  const { argv, environment } = describeRun(['--parallel', '1'])
  const { out } = await runAdminQuietly(
    argv.filter((word) => word !== '--json'),
    readConfig(environment),
  )
  expect(out).toContain('warning: row 2001: idempotencyKey is that of "purchase"')
  expect(out).toContain('… and at least 2 more warnings')
  expect(out).toContain('at least 12. If they are events of their own, such as refunds of orders, ')
})

test.each([
  [['--decimal', 'dot'], '--decimal must be point or comma'],
  [['--without-time', 'now'], '--without-time must be fail or skip'],
])('refuses %j', async (options, message) => {
  const { exitCode, summary } = await runImport(...options)
  expect([exitCode, summary.error.message]).toEqual([2, expect.stringContaining(message)])
})

test('reports warnings by the row of the file', async () => {
  const warnings = ['item 0: first', 'item 149: last']
  interrupt = (response, number, events) =>
    number === 5 && reply(response, 200, { data: { ...record(events), warnings } })
  const { summary } = await runImport('--parallel', '1')
  expect(summary.warnings).toEqual(['row 2001: first', 'row 2150: last'])
})

test('a run that was killed is continued', async () => {
  const child = launchImport('--parallel', '1')
  interrupt = (response, number) => number === 3 && child.kill('SIGKILL') && Boolean(response.socket?.destroy())
  await new Promise((resolve) => child.once('exit', resolve))
  expect(recorded.size).toBe(1_000)
  requests = 3
  expect((await runImport('--parallel', '1')).summary).toMatchObject(ALL_NEW)
  expect([requests, recorded.size]).toEqual([6, ROWS])
})

test('a run that is stopped by Ctrl-C says where, and is continued', async () => {
  const child = launchImport('--parallel', '1')
  const output = text(child.stdout!)
  interrupt = (_response, number) => number === 3 && child.kill('SIGINT')
  const [exitCode] = (await once(child, 'exit')) as [number]
  const message = 'Stopped after row 1000. To continue, run the same command again'
  expect([exitCode, JSON.parse(await output)]).toEqual([1, { error: { code: 'stopped', message } }])
  interrupt = () => false
  expect((await runImport('--parallel', '1')).summary).toMatchObject(ALL_NEW)
})

test('stops at the first row when the key is of another business', async () => {
  const error =
    'businessId names another business than the API key does. Leave it out, or send the key of that business.'
  interrupt = (response, _number, events) => {
    const failures = events.map((_, index) => ({ index, error }))
    return reply(response, 200, { data: { received: events.length, recorded: 0, failed: events.length, failures } })
  }
  for (const options of [['--batch-size', '5'], ['--allow-failures']]) {
    const { exitCode, summary } = await runImport(...options)
    expect([exitCode, summary.error]).toEqual([
      1,
      {
        code: 'refused',
        message: `The key belongs to another business. Give a secret key of the business ${BUSINESS} with --key or SLUICE_API_KEY`,
      },
    ])
  }
})

test('stops at once when the key is refused', async () => {
  interrupt = (response) => reply(response, 403, { message: 'The key belongs to another business' })
  const { exitCode, summary } = await runImport()
  expect([exitCode, summary.error.code]).toEqual([1, 'refused'])
  expect(summary.error.message).toContain('403: The key belongs to another business')
})

test('stops when not one row is taken', async () => {
  const { exitCode, summary } = await runImport('--set', 'value=13')
  expect([exitCode, summary.error.code]).toEqual([1, 'all_failed'])
  expect(summary.error.message).toContain('Row 1: unlucky')
  const all = await runImport('--set', 'value=13', '--allow-failures')
  expect([all.exitCode, all.summary.failed]).toEqual([0, ROWS])
})

test('lists the rows that failed, here and at the service, also over an interruption', async () => {
  const lines = readFileSync(join(directory, 'orders.csv'), 'utf8').trimEnd().split('\n')
  const broken = lines.with(3, 'c2,2024-01-01,13').with(8, 'c7,2024-01-01,1 000').with(1_600, 'c,2024-01-01,1,long')
  writeFileSync(join(directory, 'orders.csv'), broken.join('\n'))
  interrupt = (response, number) => number > 1 && Boolean(response.socket?.destroy())
  await runImport('--patience', '1', '--parallel', '1')
  interrupt = () => false
  const { exitCode, summary } = await runImport()
  expect(exitCode).toBe(1)
  expect(summary).toMatchObject({ received: ROWS, recorded: ROWS - 3, failed: 3 })
  const failures = readFileSync(summary.failuresFile, 'utf8').trimEnd().split('\n')
  expect(failures.map((line) => JSON.parse(line) as unknown)).toEqual([
    { row: 3, error: 'unlucky', source: { customer: 'c2', date: '2024-01-01', amount: '13' } },
    {
      row: 8,
      error: 'value: "1 000" is not a plain number such as 1234.50',
      source: expect.objectContaining({ amount: '1 000' }) as object,
    },
    { row: 1_600, error: 'the row has 4 cells, the header has 3', source: '["c","2024-01-01","1","long"]' },
  ])
  expect((await runImport('--allow-failures')).exitCode).toBe(0)
})

test('leaves a quarter of the rate limit to live calls, and goes on in the next window', async () => {
  const limit = 8
  let [live, window, taken, mostTaken] = [1, 0, 0, 0]
  interrupt = (response, _number, events) => {
    const current = Math.floor(performance.now() / 1000)
    if (current !== window) [window, taken] = [current, 0]
    mostTaken = Math.max(mostTaken, ++taken)
    const remaining = Math.max(0, limit - taken - live)
    const headers = { 'ratelimit-policy': `"default";q=${limit};w=1`, ratelimit: `"default";r=${remaining};t=1` }
    return reply(response, 200, { data: record(events) }, headers)
  }
  expect((await runImport('--batch-size', '100', '--parallel', '8')).summary).toMatchObject(ALL_NEW)
  // 22 requests. At a time: three quarters of 8, less the share of live calls.
  expect([requests, mostTaken]).toEqual([22, 5])
  live = 0
  mostTaken = 0
  await runImport('--batch-size', '100', '--parallel', '8')
  expect(mostTaken).toBe(6)
})

test('a refused import keeps the failures file of the run before', async () => {
  const file = join(directory, 'orders.csv')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/,100\n/, ',13\n'))
  const { summary } = await runImport('--allow-failures')
  const before = readFileSync(summary.failuresFile, 'utf8')
  expect(before).toContain('unlucky')
  for (const code of ['invalid_api_key', 'business_inactive']) {
    interrupt = (response) => reply(response, 401, { success: false, message: 'No.', error: { code } })
    expect((await runImport()).summary.error.code).toBe('refused')
    expect(readFileSync(summary.failuresFile, 'utf8')).toBe(before)
  }
  interrupt = () => false
  expect((await runImport('--set', 'value=5')).summary).toMatchObject({ failed: 0 })
})

describe('before the file is read', () => {
  /**
   * Opens a port that does not accept connections. Its queue of one is full, so further connections are not even
   * refused.
   */
  async function openDeafPort(): Promise<{ port: number; close(): void }> {
    const program = `
      const server = require('node:net').createServer()
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        require('node:fs').writeSync(1, String(server.address().port))
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      })`
    const [command, ...args] = RUNTIMES['node']!
    const child = spawn(command, [...args, '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    const port = Number(said)
    const callers = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
    await Promise.all(callers.slice(0, 2).map((caller) => once(caller, 'connect')))
    return {
      port,
      close() {
        callers.forEach((caller) => caller.destroy())
        child.kill('SIGKILL')
      },
    }
  }

  const file = () => join(directory, 'orders.csv')
  const unreadable = () => appendFileSync(file(), 'c1,"2024-01-01\n')

  test.each([
    [['--url', 'example.com'], 2, 'usage'],
    [['--batch-size', '0'], 2, 'usage'],
    [['--batch-size', '501'], 2, 'usage'],
    [['--parallel', '65'], 2, 'usage'],
    [['--patience', '86401'], 2, 'usage'],
    [['--key', 'schlüssel'], 2, 'usage'],
    [['--url', 'http://127.0.0.1:1'], 1, 'unavailable'],
  ])('%j is reported', async (words, exitCode, code) => {
    unreadable()
    const ran = await runImport(...words)
    expect([ran.exitCode, ran.summary.error.code]).toEqual([exitCode, code])
    expect((await runImport('--dry-run', ...words)).summary.error.code).toBe('unreadable_file')
  })

  test('what is at its limit is taken', async () => {
    const words = ['--batch-size', '500', '--parallel', '64', '--patience', '86400']
    expect((await runImport(...words)).summary).toMatchObject(ALL_NEW)
  })

  test('a service that does not even refuse is reported', async () => {
    unreadable()
    const deaf = await openDeafPort()
    const ran = await runImport('--url', `http://127.0.0.1:${deaf.port}`)
    deaf.close()
    expect([ran.exitCode, ran.summary.error.code]).toEqual([1, 'unavailable'])
    expect(ran.summary.error.message).toContain('ETIMEDOUT')
  })
})

describe('a dry run', () => {
  test('sends nothing', async () => {
    const { exitCode, summary } = await runImport('--dry-run')
    expect([exitCode, requests]).toEqual([0, 0])
    expect(summary).toMatchObject({ rows: ROWS, failed: 0, leftOut: 0, events: { length: 5 }, failures: [] })
  })

  test('checks all rows, and counts those that would fail', async () => {
    appendFileSync(join(directory, 'orders.csv'), `c,2024-01-01,x\n${'c,,1\n'.repeat(12)}`)
    const { exitCode, summary } = await runImport('--dry-run')
    expect([exitCode, requests]).toEqual([1, 0])
    expect(summary).toMatchObject({ rows: ROWS + 13, failed: 13, leftOut: 0, failures: { length: 10 } })
    expect(summary.failures[0]).toEqual({
      row: ROWS + 1,
      error: 'value: "x" is not a plain number such as 1234.50',
    })
    const skipping = ['--dry-run', '--without-time', 'skip', '--allow-failures']
    expect(await runImport(...skipping)).toMatchObject({ exitCode: 0, summary: { failed: 1, leftOut: 12 } })
    const { argv, environment } = describeRun(['--dry-run'])
    const { out } = await runAdminQuietly(
      argv.filter((word) => word !== '--json'),
      readConfig(environment),
    )
    expect(out).toContain(`\n${ROWS + 13} rows: 13 would fail; nothing was sent\n  row ${ROWS + 1}: value: "x" is not`)
    expect(out).toMatch(/\n {2}… and 3 more\n$/)
  })
})

describe('a cell that cannot be read is answered with the option or the form that helps', () => {
  const TWO_WAYS = /^value: "1[.,]234" can be read in two ways\. .*: --decimal comma or --decimal point$/
  test.each([
    ['c,2024-01-01,1.234', TWO_WAYS],
    ['c,2024-01-01,"1,234"', TWO_WAYS],
    ['c,2024-01-01,"1.234,50"', /^value: "1\.234,50" is not a plain number .* a comma .*: --decimal comma$/],
    ['c,2024-01-01,"1,234.50"', /^value: "1,234\.50" is not a plain number .* a point .*: --decimal point$/],
    ['c,2024-01-01,free', /^value: "free" is not a plain number such as 1234\.50$/],
    ['c,,5', /^occurredAt: the time is empty\. .*: --without-time skip$/],
    ['c,01.10.2026 12:00,5', /^occurredAt: "01\.10\.2026 12:00" is not a date\. .* 2026-10-01T12:00:00Z$/],
    ['c,2026-02-30,5', /^occurredAt: "2026-02-30" is not a date\. .* 2026-10-01T12:00:00Z$/],
  ])('%s', async (row, error) => {
    writeFileSync(join(directory, 'orders.csv'), `customer,date,amount\n${row}\n`)
    for (const options of [['--dry-run'], ['--allow-failures'], ['--timezone', 'Europe/Berlin', '--dry-run']]) {
      const { summary } = await runImport(...options)
      expect([summary.failed, summary.failures[0]]).toEqual([
        1,
        { row: 1, error: expect.stringMatching(error) as string },
      ])
    }
  })
})

test('a file that is not UTF-8 is refused before anything is sent', async () => {
  appendFileSync(join(directory, 'orders.csv'), Buffer.from('M\xFCller,2024-01-01,5\n', 'latin1'))
  for (const words of [[], ['--dry-run'], ['--allow-failures']]) {
    const { exitCode, summary } = await runImport(...words)
    expect([exitCode, requests, summary.error.code]).toEqual([1, 0, 'unreadable_file'])
    expect(summary.error.message).toContain(`Line ${ROWS + 2} of `)
  }
})

test('a file that changes while it is sent is reported, and the next run makes up for it', async () => {
  const file = join(directory, 'orders.csv')
  const rows = Array.from({ length: 1000 }, (_, index) => `c${index},2024-01-01,${index + 100},${'x'.repeat(500)}\n`)
  writeFileSync(file, ['customer,date,amount,note\n', ...rows].join(''))
  interrupt = (_response, request) => {
    // Equal to existing rows, so that only counting distinguishes them.
    if (request === 1) appendFileSync(file, rows.slice(0, 10).join(''))
    return false
  }
  const { exitCode, summary } = await runImport('--parallel', '1', '--batch-size', '100')
  expect({ exitCode, code: summary.error?.code }).toEqual({ exitCode: 1, code: 'file_changed' })
  expect((await runImport()).exitCode).toBe(0)
  expect(recorded.size).toBe(1010)
})

test('a row whose own key is null gets one nevertheless', async () => {
  const rows = [1, 2].map((amount) => JSON.stringify({ customer: 'c', date: '2024-01-01', amount, order: null }))
  writeFileSync(join(directory, 'orders.csv'), rows.join('\n'))
  const { summary } = await runImport('--format', 'ndjson', '--map', 'idempotencyKey=order')
  expect(summary).toMatchObject({ received: 2, recorded: 2 })
  for (const key of recorded.keys()) expect(key).toMatch(/^import:/)
})

test('a row that no request can carry fails, and the others are sent', async () => {
  const row = (customer: string, note: string) => JSON.stringify({ customer, date: '2024-01-01', amount: 1, note })
  const rows = [row('a', ''), row('b', 'x'.repeat(32 * 1024 * 1024)), row('c', '')]
  writeFileSync(join(directory, 'orders.csv'), rows.join('\n'))
  const mapped = await runImport('--format', 'ndjson', '--map', 'properties.note=note')
  expect(mapped.summary).toMatchObject({ received: 3, recorded: 2, failed: 1 })
  expect(mapped.summary.failures).toEqual([{ row: 2, error: 'properties.note: has more than 32,768 characters' }])
  const event = (note: string) => JSON.stringify({ event: 'e', identity: { email: 'a@x.io' }, properties: { note } })
  const file = join(directory, 'events.ndjson')
  writeFileSync(file, [event(''), event('x'.repeat(32 * 1024 * 1024)), event('y')].join('\n'))
  const { environment } = describeRun([])
  const whole = await runAdminQuietly(['import', file, '--business', BUSINESS, '--json'], readConfig(environment))
  expect([whole.exitCode, (JSON.parse(whole.out) as Summary).failures]).toEqual([
    1,
    [{ row: 2, error: 'Larger than 33554432 bytes' }],
  ])
})

test('a row with a visitor id fails, and so does an amount that no number can hold', async () => {
  const row = (more: object) =>
    JSON.stringify({ event: 'e', identity: { platformCustomerId: 'c' }, occurredAt: '2024-01-01', ...more })
  const rows = [row({ visitorId: 'v' }), row({ amount: '1e999' }), row({ amount: '1' })]
  writeFileSync(join(directory, 'orders.csv'), rows.join('\n'))
  const words = [
    'event=event',
    'platformCustomerId=identity.platformCustomerId',
    'occurredAt=occurredAt',
    'value=amount',
  ]
  const file = join(directory, 'orders.csv')
  const { environment } = describeRun([])
  const argv = ['import', file, '--business', BUSINESS, '--format', 'ndjson', '--json']
  const mapped = await runAdminQuietly([...argv, ...words.flatMap((word) => ['--map', word])], readConfig(environment))
  expect(JSON.parse(mapped.out)).toMatchObject({
    recorded: 2,
    failures: [{ row: 2, error: 'value must be a finite number' }],
  })
  const asTheyAre = await runAdminQuietly([...argv, '--set', 'value=5'], readConfig(environment))
  expect(JSON.parse(asTheyAre.out)).toMatchObject({
    failures: [{ row: 1, error: 'visitorId is not accepted inside a batch' }],
  })
})

test('a row that names another business fails, and is never sent as one of ours', async () => {
  const other = BUSINESS.replace(/1$/, '2')
  const named = [BUSINESS, ` ${BUSINESS.toUpperCase()} `, other, null, undefined, { toString: 7 }, '']
  const identity = { platformCustomerId: 'c' }
  const rows = named.map((businessId, value) => JSON.stringify({ event: 'e', identity, value, businessId }))
  const file = join(directory, 'events.ndjson')
  writeFileSync(file, rows.join('\n'))
  const { environment } = describeRun([])
  const { exitCode, out } = await runAdminQuietly(
    ['import', file, '--business', BUSINESS, '--json'],
    readConfig(environment),
  )
  const error = `businessId: the row belongs to another business than this import (${BUSINESS})`
  expect([exitCode, JSON.parse(out)]).toMatchObject([
    1,
    { recorded: 4, failures: [3, 6, 7].map((row) => ({ row, error })) },
  ])
  expect([...recorded.values()].map(({ value }) => value)).toEqual([0, 1, 3, 4])
  expect([...recorded.values()].every(({ businessId }) => businessId === BUSINESS)).toBe(true)
})
