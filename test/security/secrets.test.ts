/** No key, no hash of a key and no password is ever written: to logs at any level, answers, metrics or stores. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { BROWSER, type Speak, speakTo } from '../front-door/http-client.ts'
import { KEEPS_WEB_EVENTS } from '../support/keep-web-events.ts'
import { type Stack, type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { type Proxy, startProxy } from '../workers/own-redis.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const METRICS_TOKEN = 'token-of-the-metrics'
const GUESSED = 'sk_live_a_guess_that_is_wrong'

let stack: Stack
let postgres: Proxy
let redis: Proxy
let business: TestBusiness
const written: string[] = []
const running: ChildProcess[] = []

/** Runs the product with its stores behind proxies, and records all its output. */
function start(...words: string[]): ChildProcess {
  const [command = '', ...args] = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), words)
  const env = {
    PATH: process.env['PATH'],
    HOST: '127.0.0.1',
    PORT: '0',
    WORKERS_PORT: '0',
    LOG_LEVEL: 'trace',
    ANSWER_TIMEOUT_MS: '1000',
    DRAIN_MS: '0',
    METRICS_TOKEN,
    // Commands run after the proxies are closed.
    DATABASE_URL: words[0] === 'admin' ? stack.databaseUrl : postgres.url,
    REDIS_URL: redis.url,
    CLICKHOUSE_URL: stack.clickhouseUrl,
    ...KEEPS_WEB_EVENTS,
  }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => written.push(String(bytes)))
  running.push(child)
  return child
}

/** Resolves with the exit code and the output on both streams. */
async function admin(...words: string[]): Promise<string> {
  const child = start('admin', ...words)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => (output += String(bytes)))
  const [code] = (await once(child, 'close')) as [number]
  return `${code} ${output}`
}

beforeAll(async () => {
  stack = await openStack()
  ;[postgres, redis] = await Promise.all([startProxy(new URL(stack.databaseUrl)), startProxy(new URL(stack.redisUrl))])
  business = await createBusiness(stack.sql)
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await Promise.all([postgres.close(), redis.close()].map((closed) => closed.catch(() => undefined)))
  await stack.close()
})

const hashes = (key: string): string[] => {
  const digest = createHash('sha256').update(key).digest()
  return [digest.toString('hex'), digest.toString('base64'), digest.toString('base64url')]
}

/** Includes parts of secrets: a log that contains half a key has leaked that half. */
function secrets(): string[] {
  const keys = [business.secretKey, business.publishableKey, GUESSED]
  const passwords = [stack.databaseUrl, stack.redisUrl, stack.clickhouseUrl].map((url) => new URL(url).password)
  const halves = keys.map((key) => key.slice(8, 24))
  return [...keys, ...halves, ...keys.flatMap(hashes), ...passwords, METRICS_TOKEN, '_live_']
}

const leaked = (text: string): string[] => secrets().filter((secret) => text.includes(secret))

async function untilLogged(pattern: RegExp): Promise<string> {
  await expect.poll(() => pattern.exec(written.join(''))?.[1], { timeout: PATIENCE_MS }).toBeDefined()
  return pattern.exec(written.join(''))?.[1] ?? ''
}

const json = { event: 'e', identity: { email: 'ada@example.com' } }
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends requests that result in every kind of answer, with keys wherever a caller could put one. */
async function askEverything(speak: Speak): Promise<string[]> {
  const { secretKey: key, publishableKey, businessId } = business
  const answers = await Promise.all([
    speak('POST', '/api/sdk/track', { key, json }),
    speak('POST', '/api/sdk/track', { key, json, headers: { prefer: 'respond-async' } }),
    speak('POST', '/api/sdk/track', { key, json: { ...json, event: 5 } }),
    speak('POST', '/api/sdk/track', { key, json: { event: 'e' } }),
    speak('POST', '/api/sdk/track', { key, raw: `{"event":"${GUESSED}`, headers: JSON_TYPE }),
    speak('POST', '/api/sdk/track', { key, raw: `\u00ff${GUESSED}`, headers: JSON_TYPE }),
    speak('POST', '/api/sdk/track', { key, raw: 'x', headers: { 'content-type': GUESSED } }),
    speak('POST', '/api/sdk/track', { key: GUESSED, json }),
    speak('POST', '/api/sdk/track', { key: publishableKey, json }),
    speak('POST', '/api/sdk/track', { json, headers: { authorization: `Basic ${key}` } }),
    speak('POST', '/api/sdk/track', { json, headers: { authorization: `Bearer ${key} ${key}` } }),
    speak('POST', '/api/sdk/track/batch', { key, json: { events: [json, {}, { ...json, visitorId: 'v' }] } }),
    speak('POST', '/api/sdk/identify', { key, json }),
    speak('POST', '/api/sdk/identify', { key: publishableKey, json }),
    speak('POST', '/api/sdk/identify', { json: { ...json, businessId } }),
    speak('POST', '/api/sdk/identify', { json: { ...json, businessId: GUESSED } }),
    speak('POST', '/api/sdk/browser/track', { key, json: { event: 'e', visitorId: '5'.repeat(32) }, headers: BROWSER }),
    speak('POST', '/api/sdk/browser/track', { json: { event: 'e', businessId, visitorId: GUESSED } }),
    speak('GET', `/api/contacts?email=${GUESSED}@x.io&key=${key}`, { key }),
    speak('GET', `/api/contacts/${GUESSED}`, { key }),
    speak('GET', `/api/campaigns?key=${key}`, { key }),
    speak('POST', `/${key}`, { key, json }),
    speak('PATCH', '/api/campaigns', { key }),
    speak('GET', '/healthz', { key }),
    speak('GET', '/readyz', { key }),
    speak('GET', '/metrics', { headers: { authorization: `Bearer ${METRICS_TOKEN}`, via: 'a proxy' } }),
    speak('GET', '/metrics', { headers: { authorization: `Bearer ${METRICS_TOKEN}x`, via: 'a proxy' } }),
    speak('GET', '/metrics'),
    speak('GET', '/openapi.json'),
  ])
  return answers.map(({ status, headers, text }) => `${status} ${[...headers].join(' ')} ${text}`)
}

describe('keys and passwords', () => {
  it('are written nowhere by a front door and workers at level trace, also while their stores fail', async () => {
    start('workers')
    start('serve')
    const speak = speakTo(await untilLogged(/"url":"([^"]+)"/))
    await expect.poll(async () => (await speak('GET', '/readyz')).status, { timeout: PATIENCE_MS }).toBe(200)
    const answers = await askEverything(speak)
    expect(answers.filter((answer) => /^20[02]/.test(answer)).length).toBeGreaterThan(8)
    await redis.close()
    answers.push(...(await askEverything(speak)))
    await postgres.close()
    // A cached key is trusted for a moment. After that, it has to be read again.
    await expect
      .poll(async () => (await speak('GET', '/api/campaigns', { key: business.secretKey })).status, {
        timeout: PATIENCE_MS,
      })
      .toBe(503)
    answers.push(...(await askEverything(speak)))
    expect(answers.some((answer) => answer.startsWith('503'))).toBe(true)
    for (const child of running) child.kill('SIGTERM')
    await Promise.all(running.map(async (child) => child.exitCode ?? (await once(child, 'exit'))))
    for (const line of ['the front door is open', 'answered', 'redis connection lost', 'acquired a partition']) {
      expect(written.join('')).toContain(line)
    }
    // The description of the API shows the form of a key.
    expect(leaked(answers.join('\n').replaceAll(/[sp]k_live_…/g, ''))).toEqual([])
    expect(leaked(written.join(''))).toEqual([])
  })

  it('are in no store: there are only hashes, and the last four characters', async () => {
    const tables = await stack.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`
    const contents = await Promise.all(
      tables.map(async ({ name }) => {
        const rows = await stack.sql<{ row: string }[]>`select t::text as row from ${stack.sql(name)} t`
        return rows.map(({ row }) => row).join('\n')
      }),
    )
    const [hash = ''] = hashes(business.secretKey)
    expect(contents.join('\n')).toContain(hash)
    expect(leaked(contents.join('\n').replaceAll(/\\x[0-9a-f]{64}/g, ''))).toEqual([])
    for (const key of await stack.redis.keys('*')) {
      expect(leaked(`${key} ${(await stack.redis.dumpBuffer(key))?.toString('latin1')}`)).toEqual([])
    }
  })
})

describe('an uncaught error', () => {
  it.each(['rejected', 'thrown'])('ends the process, and is logged without what it carries: %s', async (kind) => {
    const [command = '', ...args] = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), ['serve'])
    const preload = fileURLToPath(new URL('fail-late.ts', import.meta.url))
    const { databaseUrl, redisUrl, clickhouseUrl } = stack
    const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, CLICKHOUSE_URL: clickhouseUrl }
    const env = { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', FAULT: kind, CARRIED: GUESSED, ...stores }
    const child = spawn(command, ['--preload', preload, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.push(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)))
    const [exitCode] = (await once(child, 'close')) as [number]
    expect([exitCode, output.includes('it broke'), output.includes(GUESSED)]).toEqual([1, true, false])
  })
})

describe('an operator', () => {
  it('sees a key once, when it is made', async () => {
    const made = JSON.parse((await admin('key', 'create', '--business', business.businessId, '--json')).slice(2)) as {
      keyId: string
      key: string
    }
    expect(made.key).toMatch(/^sk_live_[0-9a-f]{48}$/)
    // The commands that get the key are processes, whose logs are checked too.
    const later = await Promise.all([
      admin('key', 'import', '--business', business.businessId, '--key', made.key),
      admin('key', 'import', '--business', business.businessId, '--key', `${made.key}\u00e9`),
      admin('key', 'import', '--business', business.businessId, '--key', made.key.replace('sk_live', 'xx_live')),
      admin('key', 'revoke', made.key),
    ])
    for (const command of ['key list --json', 'key list', `key revoke ${made.keyId}`, 'business list']) {
      const { exitCode, out, err } = await runAdminQuietly(command.split(' '), stack.config)
      later.push(`${exitCode} ${out}${err}`)
    }
    expect(later.map((output) => output[0])).toEqual(['1', '2', '2', '2', '0', '0', '0', '0'])
    for (const output of later) expect(output).not.toContain(made.key.slice(8, 40))
    for (const hash of hashes(made.key)) expect(later.join('')).not.toContain(hash)
  })
})
