// @long
/**
 * Postgres restarts while people manage campaigns and providers report deliveries: no process of `start` ends, and every
 * call is answered.
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { type Run, killRuns, pressCtrlC, runCli, untilStarted } from '../support/run-cli.ts'

const RESTARTS = 6
const CALLERS = 6
const POSTMARK = { user: 'sluice', password: 'open-sesame' }

let folder: string
let running: Run
let url: string
let headers: Record<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-restarted-'))
  await chmod(folder, 0o711)
  const settings = { SECRETS_KEY: 'ab'.repeat(32), PUBLIC_URL: 'https://mail.example.com' }
  running = runCli({ DATA_DIR: join(folder, 'data'), ...settings }, 'start')
  url = await untilStarted(running)
  const keys = JSON.parse(await readData('demo-keys.json')) as { businessId: string; secretKey: string }
  const { secretKey, businessId } = keys
  const update = ['business', 'update', businessId, '--rate-limit', '100000']
  const limited = runCli({ DATA_DIR: join(folder, 'data'), ...settings }, 'admin', ...update)
  if ((await limited.ended) !== 0) throw new Error(`the limit was not set: ${limited.output()}`)
  headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
})
afterAll(async () => {
  if (running.child.exitCode === null) await pressCtrlC(running)
  await running.ended
  killRuns()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 })
})

const readData = (name: string) => readFile(join(folder, 'data', name), 'utf8')
const pidsOf = async () =>
  Promise.all(['front-door', 'workers', 'clickhouse', 'redis'].map((name) => readData(`${name}.pid`)))

interface Answer {
  status: number
  code: string | undefined
  data: Record<string, unknown>
}

async function ask(method: string, address: string, json?: object, more = headers): Promise<Answer> {
  const response = await fetch(address, {
    method,
    headers: more,
    body: json === undefined ? null : JSON.stringify(json),
  })
  // The answer to a provider is of the provider's form.
  const body = (await response.json().catch(() => null)) as { data?: Answer['data']; error?: { code: string } } | null
  if (response.status === 503) expect(response.headers.has('retry-after')).toBe(true)
  return { status: response.status, code: body?.error?.code, data: body?.data ?? {} }
}

/** Returns what reports a bounce as the provider does. */
async function setUpReports(): Promise<() => Promise<Answer>> {
  const channel = {
    provider: 'postmark',
    sender: 'hello@shop.example',
    serverToken: 't',
    webhookUser: POSTMARK.user,
    webhookPassword: POSTMARK.password,
  }
  const saved = await ask('PUT', `${url}/api/channels/email`, channel)
  const { pathname } = new URL((saved.data['channel'] as { callbackUrl: string }).callbackUrl)
  const authorization = `Basic ${btoa(`${POSTMARK.user}:${POSTMARK.password}`)}`
  return () => {
    const report = { RecordType: 'Delivery', MessageID: crypto.randomUUID(), DeliveredAt: new Date().toISOString() }
    return ask('POST', `${url}${pathname}`, report, { authorization, 'content-type': 'application/json' })
  }
}

it('answers every call, ends no process, and is ready again soon after each restart', async () => {
  const report = await setUpReports()
  const made = await ask('POST', `${url}/api/campaigns`, { name: 'first', trigger: { event: 'never' } })
  const { campaignId } = made.data['campaign'] as { campaignId: string }
  const calls = [
    () => ask('PATCH', `${url}/api/campaigns/${campaignId}`, { name: crypto.randomUUID() }),
    () =>
      ask('POST', `${url}/api/suppressions`, {
        suppressions: [{ channel: 'email', address: `${crypto.randomUUID()}@x.example` }],
      }),
    report,
  ]
  const answers = new Map<string, number>()
  let isStopped = false
  const callOnAndOn = async (caller: number): Promise<void> => {
    for (let call = caller; !isStopped; call += 1) {
      const answer = await calls[call % calls.length]!().then(
        ({ status, code }) => `${status} ${code ?? ''}`.trim(),
        (error: unknown) => `no answer: ${String(error)}`,
      )
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
      if (answer !== '200') await sleep(20)
    }
  }
  const before = await pidsOf()
  const calling = Array.from({ length: CALLERS }, (_, caller) => callOnAndOn(caller))
  let slowestMs = 0
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    await sleep(700)
    const pid = Number(await readData('postgres.pid'))
    process.kill(pid, 'SIGINT')
    const from = Date.now()
    const isNew = async () => ![0, pid].includes(Number(await readData('postgres.pid').catch(() => '')))
    await vi.waitUntil(isNew, { timeout: PATIENCE_MS })
    const isReady = () => fetch(`${url}/readyz`).then(({ ok }) => ok)
    await vi.waitUntil(isReady, { timeout: PATIENCE_MS })
    slowestMs = Math.max(slowestMs, Date.now() - from)
  }
  isStopped = true
  await Promise.all(calling)
  expect([...answers.keys()].filter((answer) => !/^(?:200|503 (?:unavailable|outcome_unknown))$/.test(answer))).toEqual(
    [],
  )
  expect(answers.get('200')).toBeGreaterThan(20)
  expect(answers.get('503 unavailable')).toBeGreaterThan(0)
  expect(slowestMs).toBeLessThan(atLoad(8000))
  expect(await pidsOf()).toEqual(before)
})
