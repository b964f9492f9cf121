/** One line per request, with the request id and without personal data (decisions, "Envelope"; design, "Runtime"). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, it, vi } from 'vitest'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { ASYNC, speakTo } from './http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const OTHER = '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11'

interface Line {
  msg: string
  url?: string
  requestId?: string
  [field: string]: unknown
}

it('logs each request without a key, a query or a person', async () => {
  const stack = await openStack()
  const { secretKey, businessId } = await createBusiness(stack.sql)
  const [bun = 'bun'] = RUNTIMES['bun'] ?? []
  const child = spawn(bun, ['src/cli.ts', 'serve'], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DRAIN_MS: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'debug',
      DATABASE_URL: stack.databaseUrl,
      REDIS_URL: stack.redisUrl,
      CLICKHOUSE_URL: stack.clickhouseUrl,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines: Line[] = []
  const opened = Promise.withResolvers<string>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Line
    lines.push(line)
    if (line.url !== undefined) opened.resolve(line.url)
  })
  const speak = speakTo(await opened.promise)
  const json = { event: 'Secret event', identity: { email: 'ada@example.com', phone: '+972501234567' }, tags: ['vip'] }
  const headers = { ...ASYNC, 'x-request-id': 'order-17' }
  await speak('POST', '/api/sdk/track', { key: secretKey, json, headers })
  await speak('POST', '/api/sdk/track', { key: secretKey, json: { ...json, event: 5 } })
  await speak('GET', '/api/contacts?email=ada@example.com', { key: secretKey })
  await speak('GET', '/nothing/ada@example.com', { key: 'sk_live_wrong' })
  await speak('POST', '/api/sdk/identify', { json: { businessId, identity: { email: 'guest' } } })
  await speak('POST', '/api/sdk/identify', { json: { businessId: 'ada@example.com', identity: { email: 'ada@b' } } })
  await speak('POST', '/api/sdk/track', { key: secretKey, json: { ...json, businessId: OTHER } })
  const metrics = (await speak('GET', '/metrics')).text
  child.kill('SIGTERM')
  await ended
  await stack.close()

  const answered = lines.filter(({ msg }) => msg === 'answered')
  expect(answered).toMatchObject([
    { level: 'debug', requestId: 'order-17', method: 'POST', route: '/api/sdk/track', status: 202, businessId },
    { level: 'info', route: '/api/sdk/track', status: 400, code: 'invalid_request', businessId },
    { method: 'GET', route: '/api/contacts', status: 200, businessId },
    { method: 'GET', route: 'unmatched', status: 404, code: 'not_found' },
    { route: '/api/sdk/identify', status: 400, code: 'identity_required', businessId },
    { route: '/api/sdk/identify', status: 404, code: 'business_not_found' },
    { route: '/api/sdk/track', status: 403, code: 'business_mismatch', businessId },
    { route: '/metrics', status: 200 },
  ])
  expect(answered.map((line) => 'code' in line)).toEqual([false, true, false, true, true, true, true, false])
  // For these refused callers, no business is known.
  for (const at of [3, 5, 7]) expect(answered[at]).not.toHaveProperty('businessId')
  expect(metrics).toContain(
    'http_requests_total{route="/api/sdk/track",method="POST",status="403",code="business_mismatch"} 1\n',
  )
  // To a tenth of a millisecond: an answer that needs no store may take less.
  expect(answered[0]?.ms).toBeGreaterThan(0)
  for (const { ms } of answered) expect(ms).toBeGreaterThanOrEqual(0)
  for (const secret of [secretKey, 'sk_live', 'ada@', 'example.com', '972501234567', 'Secret event', 'vip']) {
    expect(JSON.stringify(lines)).not.toContain(secret)
  }
})

// Every write to this device fails as on a full disk. Only Linux has it, so the test is skipped elsewhere.
it.skipIf(!existsSync('/dev/full'))('answers on while the disk under its log is full', async () => {
  const stack = await openStack()
  const port = await freePort()
  const full = openSync('/dev/full', 'w')
  const [bun = 'bun'] = RUNTIMES['bun'] ?? []
  const child = spawn(bun, ['src/cli.ts', 'serve'], {
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      DRAIN_MS: '0',
      HOST: '127.0.0.1',
      DATABASE_URL: stack.databaseUrl,
      REDIS_URL: stack.redisUrl,
      CLICKHOUSE_URL: stack.clickhouseUrl,
    },
    stdio: ['ignore', full, 'inherit'],
  })
  closeSync(full)
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await vi.waitUntil(async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok, {
    timeout: PATIENCE_MS,
  })
  // Each refusal has a line of its own.
  for (let i = 0; i < 5; i += 1) expect((await fetch(`${url}/nowhere`)).status).toBe(404)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  await stack.close()
})
