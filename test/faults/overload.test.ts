/** Tests the parts of the overload scenario that send and judge. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { compareMarks } from './overload/compare-marks.ts'
import { OUTCOME } from './overload/plan.ts'
import { prepareLoad } from './overload/send-load.ts'
import { createOverloadTally } from './overload/tally.ts'
import { type Memory, findGrowth } from './overload/watch-memory.ts'

const { answered, queued, refused, unknown } = OUTCOME
const FIRST = 1000
const bytes = (...numbers: number[]) => new Uint8Array(numbers)
const compare = (outcome: number, postgres: number, clickhouse: number) =>
  compareMarks(bytes(outcome), { postgres: bytes(postgres), clickhouse: bytes(clickhouse) })

describe('what was answered and what is recorded', () => {
  it.each([
    [answered, 1],
    [queued, 1],
    [refused, 0],
    [unknown, 0],
    [unknown, 1],
  ])('agree: outcome %i, there %i times', (outcome, times) => {
    expect(compare(outcome, times, times).complaints).toEqual([])
  })

  it.each([
    [answered, 0, 0, { lost: 1, doubled: 0 }],
    [queued, 1, 0, { lost: 1, doubled: 0 }],
    [answered, 1, 2, { lost: 0, doubled: 1 }],
    [refused, 1, 1, { lost: 0, doubled: 0 }],
    [unknown, 2, 2, { lost: 0, doubled: 1 }],
    [unknown, 1, 0, { lost: 0, doubled: 0 }],
  ])('do not: outcome %i, %i times in Postgres, %i in ClickHouse', (outcome, postgres, clickhouse, found) => {
    const compared = compare(outcome, postgres, clickhouse)
    expect(compared).toMatchObject(found)
    expect(compared.complaints).toHaveLength(1)
  })

  it('are counted, however many complaints there are', () => {
    const none = new Uint8Array(30)
    const compared = compareMarks(new Uint8Array(30).fill(answered), { postgres: none, clickhouse: none })
    expect(compared).toMatchObject({ acknowledged: 30, recorded: 0, lost: 30 })
    expect(compared.complaints).toHaveLength(11)
  })
})

it('distinguishes answers, and a 503 that does not say when to try again', () => {
  const tally = createOverloadTally(6)
  const say = (status: number, code: string, headers = '') =>
    Buffer.from(`HTTP/1.1 ${status} X\r\nA: b\r\n${headers}\r\n{"error":{"code":"${code}"}}`)
  tally.answered(0, 200, say(200, ''), 5)
  tally.answered(1, 202, say(202, ''), 5)
  tally.answered(2, 503, say(503, 'unavailable', 'Retry-After: 1\r\n'), 1)
  tally.answered(3, 503, say(503, 'outcome_unknown'), 1)
  tally.answered(4, 500, say(500, 'internal', 'Retry-After: 1\r\n'), 1)
  expect(tally.result(1, 6)).toMatchObject({
    sent: 6,
    counts: { unsent: 0, answered: 1, queued: 1, refused: 1, unknown: 2, rejected: 1 },
    withoutRetryAfter: 1,
    accepted: { count: 2 },
    refused: { count: 3 },
  })
})

it('sends by the clock, whatever the answers, and keeps what became of each request', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-overload-'))
  const server = createServer((request, response) => {
    const answer = async () => {
      const { properties } = (await json(request)) as { properties: { n: number } }
      const n = properties.n - FIRST
      if (n === 7) return void request.socket.destroy()
      if (n % 5 === 0) response.writeHead(503, { 'retry-after': '1' })
      else response.writeHead(request.headers.prefer === 'respond-async' ? 202 : 200)
      response.end('{"error":{"code":"unavailable"}}')
    }
    answer().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const outcomesFile = join(folder, 'outcomes')
    const plan = { url, keys: ['a', 'b'], rate: 50, connections: 4, seconds: 2, first: FIRST, outcomesFile }
    const { sent, counts, withoutRetryAfter } = await (await prepareLoad(plan)).run()
    // On a busy machine it falls behind. Each answer is among these.
    expect(sent).toBeGreaterThan(20)
    expect(sent).toBeLessThanOrEqual(100)
    const expected = Array.from({ length: sent }, (_, n) => {
      if (n === 7) return unknown
      return n % 5 === 0 ? refused : n % 4 === 3 ? queued : answered
    })
    expect([...(await readFile(outcomesFile))]).toEqual(expected)
    expect(counts).toMatchObject({ unsent: 0, unknown: 1, rejected: 0, refused: Math.ceil(sent / 5) })
    expect(withoutRetryAfter).toBe(0)
  } finally {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  }
})

const MEBIBYTE = 1024 * 1024
const memoryOf = (mebibytes: number[]): Memory[] =>
  mebibytes.map((front) => {
    const rest = { 'workers-a': 1, 'workers-b': 1, redis: 1, postgres: 1, clickhouse: 1 }
    return { bytes: { 'front-door': front * MEBIBYTE, ...rest }, redisData: 1 }
  })

it.each([
  ['warms up', [50, 150, 300, 300, 310, 305, 310, 320, 315], []],
  ['collects garbage late', [100, 100, 100, 100, 180, 100, 100, 100, 190], []],
  ['grows', [100, 130, 160, 190, 220, 250, 300, 350, 400], ['front-door MiB from 220 to 350']],
])('finds whether memory that %s is flat', (_, mebibytes, growing) => {
  expect(findGrowth(memoryOf(mebibytes))).toEqual(growing)
})
