// @long
/** `start` in one directory: new, killed in many states and started again, stopped. Nothing is lost or left behind. */
import { appendFile, chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import type { DemoKeys } from '../../src/embedded/demo-business.ts'
import { RUNTIME_ENV } from '../../src/embedded/processes/runtime-env.ts'
import { runsIn, signalIfAlive } from '../../src/embedded/processes/stop-leftover.ts'
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { killRuns, pressCtrlC, type Run, runCli, untilStarted } from '../support/run-cli.ts'

const FOLDERS: Record<string, string> = {
  redis: 'redis',
  postgres: 'postgres',
  clickhouse: 'clickhouse',
  'front-door': '.',
  workers: '.',
}
const NAMES = Object.keys(FOLDERS)

let folder: string
let dataDir: string
let running: Run
let url: string

async function start(): Promise<void> {
  // With this LEASE_MS a start under another name would wait for ten minutes for the partitions.
  running = runCli({ DATA_DIR: dataDir, LEASE_MS: '600000' }, 'start')
  url = await untilStarted(running)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-start-'))
  // Postgres may run as a user of its own.
  await chmod(folder, 0o711)
  dataDir = join(folder, 'data')
  await start()
})
afterAll(async () => {
  if (isRunning()) await pressCtrlC(running)
  await running.ended
  killRuns()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 })
})

const isRunning = () => running.child.exitCode === null && running.child.signalCode === null

// A test that failed halfway leaves no service running, and the next one needs one.
beforeEach(async () => {
  if (!isRunning()) await start()
})

const readData = (name: string) => readFile(join(dataDir, name), 'utf8')
const readPid = async (name: string) => Number(await readData(`${name}.pid`))
const works = (name: string, pid: number) => runsIn(pid, join(dataDir, FOLDERS[name] ?? ''))
const readKeys = async () => JSON.parse(await readData('demo-keys.json')) as DemoKeys
const readEngines = async () => JSON.parse(await readData('engines.json')) as StoreUrls & { frontDoorUrl: string }

async function killStart(): Promise<void> {
  running.child.kill('SIGKILL')
  await running.ended
}

/** The watchdogs remove the pid files immediately, so the files are read before. */
async function killAll(): Promise<void> {
  const pids = await Promise.all(NAMES.map(readPid))
  running.child.kill('SIGKILL')
  for (const pid of pids) signalIfAlive(pid, 'SIGKILL')
  await running.ended
}

async function track(idempotencyKey: string): Promise<{ status: number; isNew?: boolean; deduped?: boolean }> {
  const { secretKey } = await readKeys()
  const body = JSON.stringify({ event: 'purchase', identity: { email: 'ada@example.com' }, value: 5, idempotencyKey })
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/sdk/track`, { method: 'POST', headers, body })
  const { data } = (await response.json()) as { data?: { isNew: boolean; deduped: boolean } }
  return { status: response.status, ...data }
}

describe('the first start', () => {
  test('says where it runs, and shows the keys that only its user may read', async () => {
    expect(running.output()).toContain(`Sluice ${manifest.version} runs at`)
    const keys = await readKeys()
    expect(running.output()).toContain(keys.secretKey)
    expect(keys.secretKey).toMatch(/^sk_live_\w{40,}$/)
    expect(keys.publishableKey).toMatch(/^pk_live_\w{40,}$/)
    for (const file of ['demo-keys.json', 'engines.json', 'password', 'secrets-key'])
      expect((await stat(join(dataDir, file))).mode & 0o077).toBe(0)
    expect(await readData('secrets-key')).toMatch(/^[0-9a-f]{64}$/)
    expect(running.output()).toMatch(new RegExp(`^  ${url}/dashboard/link#[\\w-]{43}$`, 'm'))
    // The commands find the front door there, whichever PORT it was started with.
    expect((await readEngines()).frontDoorUrl).toBe(url)
    expect(await track('one')).toMatchObject({ status: 200, isNew: true })
  })

  test('gives each process its environment', async () => {
    for (const service of ['front-door', 'workers', 'clickhouse']) {
      const environment = (await readFile(`/proc/${await readPid(service)}/environ`, 'utf8')).split('\0')
      expect(environment).toContain(`BUN_GC_TIMER_INTERVAL=${RUNTIME_ENV.BUN_GC_TIMER_INTERVAL}`)
      // The workers may reach destinations on this machine, except for the front door.
      if (service === 'workers')
        expect(environment).toEqual(
          expect.arrayContaining(['ALLOW_LOOPBACK_TARGETS=alone', `PORT=${new URL(url).port}`]),
        )
    }
  })

  test('makes Postgres write before it answers, which the engines of tests do not', async () => {
    const sql = connectPostgres((await readEngines()).databaseUrl, { max: 1 })
    const settings =
      await sql`select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') order by 1`
    expect(settings.map(({ setting }) => setting as string)).toEqual(['on', 'on'])
    await sql.end()
  })

  test('gives ClickHouse, for which no caller waits, the lowest priority', async () => {
    const clickhouse = await readPid('clickhouse')
    expect(getPriority(clickhouse)).toBe(Math.min(getPriority() + 10, 19))
    // Where Linux divides time among sessions, the nice value of the session counts.
    const niceOfSession = async (name: string) => {
      const group = await readFile(join('/proc', String(await readPid(name)), 'autogroup'), 'utf8').catch(
        () => undefined,
      )
      // The file is empty where time is not divided among sessions.
      return group?.split(' ').at(-1)?.trim() || undefined
    }
    const nice = await Promise.all(['clickhouse', 'front-door', 'workers'].map(niceOfSession))
    expect(nice).toEqual(nice[1] === undefined ? Array(3) : ['10', '0', '0'])
  })

  test('allows no second one beside it', async () => {
    const second = runCli({ DATA_DIR: dataDir }, 'start')
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain('already started')
  })

  test('starts a killed front door again', async () => {
    const killed = await readPid('front-door')
    process.kill(killed, 'SIGKILL')
    // Wait for another process than the killed one, which may not have ended yet.
    const isNew = async () => ![0, killed].includes(Number(await readData('front-door.pid').catch(() => '')))
    await expect.poll(isNew, { timeout: PATIENCE_MS }).toBe(true)
    const status = () =>
      fetch(`${url}/healthz`)
        .then((answer) => answer.status)
        .catch(() => 0)
    await expect.poll(status, { timeout: PATIENCE_MS }).toBe(200)
  })
})

test
  .runIf(process.platform === 'linux')
  .each([[[]], [['redis', 'workers', 'clickhouse']], [['postgres', 'front-door']]])(
  'the next one starts at once while %j stand still, and each pid file names what runs',
  async (frozen) => {
    const before = await Promise.all(NAMES.map(readPid))
    for (const name of frozen) process.kill(await readPid(name), 'SIGSTOP')
    await killStart()
    await start()
    // Long enough for a watchdog of the first start to remove a file.
    await sleep(200)
    for (const [at, name] of NAMES.entries()) {
      expect(await works(name, before[at] ?? 0), `${name} of the killed start`).toBe(false)
      expect(await works(name, await readPid(name)), name).toBe(true)
    }
    expect((await readdir(dataDir)).filter((name) => name.endsWith('.pid'))).toHaveLength(NAMES.length)
  },
)

test('what is killed with all its processes keeps its data, its ports, the name of its workers and their partitions', async () => {
  const taken = async () => [...(await readData('workers.log')).matchAll(/acquired a partition/g)].length
  await track('two')
  const [name, addresses, before, previous] = [
    await readData('worker-name'),
    await readData('engines.json'),
    await taken(),
    url,
  ]
  await killAll()
  await start()
  expect(await readData('worker-name')).toBe(name)
  expect(await taken()).toBeGreaterThan(before)
  // PORT is 0, so the front door has another one.
  expect(await readData('engines.json')).toBe(addresses.replace(previous, url))
  expect(running.output()).not.toContain('sk_live_')
  expect(await track('two')).toMatchObject({ status: 200, isNew: false, deduped: true })
})

/** Makes the next start of Postgres recover from an archive that is slow, and empty. */
async function recoverSlowly(cluster: string): Promise<void> {
  const settings = join(cluster, 'postgresql.auto.conf')
  await appendFile(settings, "restore_command = 'sleep 3; exit 1'\n")
  const { uid, gid } = await stat(settings)
  await writeFile(join(cluster, 'recovery.signal'), '', { mode: 0o600 })
  await chown(join(cluster, 'recovery.signal'), uid, gid)
}

test('says that it waits for a Postgres that recovers, and standard output has only what stays of use', async () => {
  await pressCtrlC(running)
  expect(await running.ended).toBe(0)
  expect((await readdir(dataDir)).filter((name) => /\.(pid|lock)$|^engines/.test(name))).toEqual([])
  await recoverSlowly(join(dataDir, 'postgres'))
  running = runCli({ DATA_DIR: dataDir }, 'start')
  let out = ''
  running.child.stdout?.on('data', (part: Buffer) => (out += part.toString()))
  await untilStarted(running)
  expect(running.output()).toMatch(/^Starting Postgres … (?:\d+ s )?\(the database system is .*\)$/m)
  expect(running.output()).toMatch(/^Starting Postgres: done in [\d.]+ s$/m)
  expect(out).toMatch(/^Sluice \S+ runs at /)
  expect(out).not.toContain('…')
  await pressCtrlC(running)
  expect(await running.ended).toBe(0)
  expect(await readData('postgres.log')).toContain('archive recovery complete')
})
