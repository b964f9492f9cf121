import { createServer } from 'node:http'
import { type AddressInfo, createServer as createRawServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readAnswer } from './generator/connection.ts'
import type { LoadPlan, LoadResult } from './generator/plan.ts'
import { prepareLoad } from './generator/run-load.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

type Answer = (count: number, body: string) => Promise<number> | number

/** Answers each request with the status that `answer` returns. */
async function openServer(answer: Answer): Promise<string> {
  let count = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      count += 1
      void Promise.resolve(answer(count, body)).then((status) => {
        response.writeHead(status, { 'content-length': '2' }).end('{}')
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function send(url: string, plan: Partial<LoadPlan>): Promise<LoadResult> {
  const load = await prepareLoad({
    url,
    keys: ['key'],
    traffic: { kind: 'typical', prefix: 'p-' },
    first: 0,
    pace: { kind: 'closed' },
    connections: 4,
    seconds: 60,
    ...plan,
  })
  return load.run()
}

test('a closed loop sends each request once, and counts the answers by status', async () => {
  const bodies: string[] = []
  const url = await openServer((count, body) => {
    bodies.push(body)
    return count % 5 === 0 ? 503 : 200
  })
  const { sent, answers, latency, refusals } = await send(url, { requests: 100 })
  expect({ sent, answers }).toEqual({ sent: 100, answers: { 200: 80, 503: 20 } })
  expect([latency.count, refusals.count]).toEqual([80, 20])
  expect(new Set(bodies).size).toBe(100)
})

test('bodies larger than a socket takes at once arrive whole', async () => {
  const sizes: number[] = []
  const url = await openServer((_, body) => {
    sizes.push((JSON.parse(body) as { events: unknown[] }).events.length)
    return 200
  })
  const { answers } = await send(url, { traffic: { kind: 'batch', prefix: 'p-', size: 5000 }, requests: 6 })
  expect(answers).toEqual({ 200: 6 })
  expect(sizes).toEqual(Array.from({ length: 6 }, () => 5000))
})

test('an open loop sends all that was due, and a stall counts for every request that waited behind it', async () => {
  const stallMs = 400
  const url = await openServer(async (count) => {
    if (count === 10) await new Promise((resolve) => setTimeout(resolve, stallMs))
    return 200
  })
  const { sent, answers, latency } = await send(url, { pace: { kind: 'open', rate: 100 }, connections: 1, seconds: 1 })
  expect({ sent, answers }).toEqual({ sent: 100, answers: { 200: 100 } })
  expect(latency.max).toBeGreaterThan(stallMs * 0.9)
  // The requests due in the first half of the stall waited at least half of it; a closed loop would not have sent them.
  expect(latency.count).toBe(100)
  expect(latency.p95).toBeGreaterThan(stallMs / 2)
})

test('a connection that breaks is reported, and another takes its place', async () => {
  const server = createRawServer((socket) => {
    let answered = 0
    socket.on('error', () => undefined)
    socket.on('data', () => {
      answered += 1
      if (answered > 3) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { sent, answers } = await send(url, { connections: 1, requests: 8 })
  expect({ sent, answers }).toEqual({ sent: 8, answers: { 200: 6, broken: 2 } })
})

const HEAD = 'HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n'

test.each([
  `${HEAD}content-length: 5\r\n\r\nhello`,
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
])('an answer counts once its body is complete', (answer) => {
  for (let length = 0; length < answer.length; length += 1) {
    expect(readAnswer(Buffer.from(answer.slice(0, length)))).toBe(undefined)
  }
  expect(readAnswer(Buffer.from(answer))).toBe(503)
})
