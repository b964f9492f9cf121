// @long
/** `start` in a new directory, killed and started again: nothing is lost, and nothing is left behind. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import { RUNTIME_ENV } from '../../src/embedded/processes/runtime-env.ts'
import type { DemoKeys } from '../../src/embedded/demo-business.ts'
import { startEngines } from '../../src/embedded/engines.ts'
import { superuserUrl } from '../../src/embedded/postgres/prepare-postgres.ts'
import { preallocateWal } from '../../src/embedded/postgres/preallocate-wal.ts'
import { createLogger } from '../../src/log.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { isAlive, killRuns, pressCtrlC, type Run, runCli, untilStarted } from '../support/run-cli.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let folder: string
let dataDir: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-start-'))
  // Postgres may run as a user of its own.
  await chmod(folder, 0o711)
  dataDir = join(folder, 'data')
})

afterAll(async () => {
  killRuns()
  while ((await livePids()).length > 0) await sleep(50)
  await rm(folder, { recursive: true, force: true })
})

const run = (...words: string[]): Run => runCli({ DATA_DIR: dataDir }, ...words)

async function readKeys(): Promise<DemoKeys> {
  return JSON.parse(await readFile(join(dataDir, 'demo-keys.json'), 'utf8')) as DemoKeys
}

async function track(
  url: string,
  idempotencyKey: string,
): Promise<{ status: number; isNew?: boolean; deduped?: boolean }> {
  const { secretKey } = await readKeys()
  const body = JSON.stringify({ event: 'purchase', identity: { email: 'ada@example.com' }, value: 5, idempotencyKey })
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/sdk/track`, { method: 'POST', headers, body })
  const { data } = (await response.json()) as { data?: { isNew: boolean; deduped: boolean } }
  return { status: response.status, ...data }
}

async function livePids(): Promise<string[]> {
  const names = await readdir(dataDir).catch(() => [])
  const pids = await Promise.all(
    names.filter((name) => name.endsWith('.pid')).map((name) => readFile(join(dataDir, name), 'utf8').catch(() => '')),
  )
  return pids.map((pid) => pid.trim()).filter((pid) => pid !== '' && isAlive(Number(pid)))
}

describe('start', () => {
  test('survives kill -9 of any process and of all of them, and leaves nothing behind', async () => {
    const first = run('start')
    const url = await untilStarted(first)
    expect(first.output()).toContain(`Sluice ${manifest.version} runs at`)
    const keys = await readKeys()
    expect(first.output()).toContain(keys.secretKey)
    expect(keys.secretKey).toMatch(/^sk_live_\w{40,}$/)
    expect(keys.publishableKey).toMatch(/^pk_live_\w{40,}$/)
    for (const file of ['demo-keys.json', 'engines.json', 'password', 'secrets-key']) {
      expect((await stat(join(dataDir, file))).mode & 0o077).toBe(0)
    }
    expect(await readFile(join(dataDir, 'secrets-key'), 'utf8')).toMatch(/^[0-9a-f]{64}$/)
    expect(first.output()).toMatch(new RegExp(`^  ${url}/dashboard/link#[\\w-]{43}$`, 'm'))
    expect(await track(url, 'one')).toMatchObject({ status: 200, isNew: true })
    for (const service of ['front-door', 'workers', 'clickhouse']) {
      const pid = (await readFile(join(dataDir, `${service}.pid`), 'utf8')).trim()
      const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0')
      expect(environment).toEqual(
        expect.arrayContaining([`BUN_GC_TIMER_INTERVAL=${RUNTIME_ENV.BUN_GC_TIMER_INTERVAL}`]),
      )
      // The workers may reach destinations on this machine, except for the front door.
      if (service === 'workers')
        expect(environment).toEqual(
          expect.arrayContaining(['ALLOW_LOOPBACK_TARGETS=alone', `PORT=${new URL(url).port}`]),
        )
    }

    const found = JSON.parse(await readFile(join(dataDir, 'engines.json'), 'utf8')) as StoreUrls & {
      frontDoorUrl: string
    }
    // The commands find the front door there, whichever PORT it was started with.
    expect(found.frontDoorUrl).toBe(url)
    const { databaseUrl } = found
    const sql = connectPostgres(databaseUrl, { max: 1 })
    // The engines of tests do not use these settings.
    const settings =
      await sql`select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') order by 1`
    expect(settings.map(({ setting }) => setting as string)).toEqual(['on', 'on'])
    await sql.end()

    // No caller waits for ClickHouse, so it must not slow down other processes. Where Linux divides time among
    // sessions, the nice value of its session counts.
    const clickhouse = Number(await readFile(join(dataDir, 'clickhouse.pid'), 'utf8'))
    expect(getPriority(clickhouse)).toBe(Math.min(getPriority() + 10, 19))
    const niceOfSession = async (pid: string) => {
      const group = await readFile(join('/proc', pid.trim(), 'autogroup'), 'utf8').catch(() => undefined)
      // The file is empty where time is not divided among sessions.
      return group?.split(' ').at(-1)?.trim() || undefined
    }
    const others = await Promise.all(
      ['front-door', 'workers'].map(async (name) =>
        niceOfSession(await readFile(join(dataDir, `${name}.pid`), 'utf8')),
      ),
    )
    const isDivided = others[0] !== undefined
    expect([await niceOfSession(String(clickhouse)), ...others]).toEqual(isDivided ? ['10', '0', '0'] : Array(3))

    const second = run('start')
    expect(await second.ended).toBe(1)
    expect(second.output()).toContain('already started')

    const frontDoor = () => readFile(join(dataDir, 'front-door.pid'), 'utf8').catch(() => '')
    const killed = await frontDoor()
    process.kill(Number(killed), 'SIGKILL')
    // Wait for another process than the killed one, which may not have ended yet.
    await expect.poll(async () => ['', killed].includes(await frontDoor()), { timeout: PATIENCE_MS }).toBe(false)
    await expect
      .poll(
        () =>
          fetch(`${url}/healthz`).then(
            (answer) => answer.status,
            () => 0,
          ),
        { timeout: PATIENCE_MS },
      )
      .toBe(200)

    const addresses = await readFile(join(dataDir, 'engines.json'), 'utf8')
    first.child.kill('SIGKILL')
    await first.ended
    const third = run('start')
    const again = await untilStarted(third)
    // The engines keep their ports. PORT is 0, so the front door has another one.
    expect(await readFile(join(dataDir, 'engines.json'), 'utf8')).toBe(addresses.replace(url, again))
    expect(third.output()).not.toContain('sk_live_')
    expect(await track(again, 'one')).toMatchObject({ status: 200, isNew: false, deduped: true })

    await pressCtrlC(third)
    expect(await third.ended).toBe(0)
    expect((await readdir(dataDir)).filter((name) => /\.(pid|lock)$|^engines/.test(name))).toEqual([])
  })
})

describe('the command line', () => {
  test.each([
    [['nothing'], 'There is no command "nothing". To see all: sluice --help\n'],
    [['wrokers'], 'There is no command "wrokers". Did you mean "workers"?'],
    [[], 'A command is missing'],
    [['serve', 'now'], "'now'"],
    [['--token=hidden'], 'There is no command "--token". To see all: sluice --help\n'],
    [['start', '--analyst-password', 'hidden'], 'environment: ANALYST_PASSWORD=… npm run start\n'],
    [['start', '--prot', '9'], 'Settings come from the environment: PORT=9 npm run start\n'],
  ])('refuses %j', async (words, reason) => {
    const refused = run(...words)
    expect(await refused.ended).toBe(2)
    expect(refused.output()).toContain(reason)
  })

  test('explains each command', async () => {
    const helped = run('workers', '--help')
    expect(await helped.ended).toBe(0)
    expect(helped.output()).toContain('WORKER_THREADS')
  })

  test('explains the settings of start', async () => {
    const helped = run('start', '--help')
    expect(await helped.ended).toBe(0)
    for (const name of ['PORT', 'DATA_DIR', 'DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL', 'WORKER_THREADS']) {
      expect(helped.output()).toContain(name)
    }
    expect(helped.output()).toContain('docs/operations.md')
  })

  test.each([[['--version']], [['start', '--version']]])('prints its version: %j', async (words) => {
    const ran = run(...words)
    expect(await ran.ended).toBe(0)
    expect(ran.output()).toBe(`sluice ${manifest.version}\n`)
  })

  test.each([
    [['start', '--port', '9000'], 'PORT=9000 npm run start'],
    [['serve', '--port=9000'], 'PORT=9000 npm run serve'],
    [['workers', '--worker-threads', '4'], 'WORKER_THREADS=4 npm run workers'],
    [['start', '--redis-url', 'redis://:secret@there'], 'REDIS_URL=… npm run start'],
    [['start', '--else', '1'], 'See: start --help'],
  ])('leads from %j to the setting', async (words, remedy) => {
    const refused = run(...words)
    expect(await refused.ended).toBe(2)
    expect(refused.output()).toContain(remedy)
    expect(refused.output()).not.toContain('secret')
  })
})

test('a port that another program has is refused at once, with what to do', async () => {
  const other = createServer().listen(0, '0.0.0.0')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const elsewhere = join(folder, 'port')
  const refused = runCli({ PORT: String(port), DATA_DIR: elsewhere }, 'start')
  expect(await refused.ended).toBe(1)
  expect(refused.output()).toContain(`Cannot listen on PORT ${port} (EADDRINUSE): set PORT to a free one.`)
  expect(await readdir(elsewhere).catch(() => [])).toEqual([])
  other.close()
})

test('a data directory that lost its password is reported at once', async () => {
  const elsewhere = join(folder, 'password-lost')
  const options = { log: createLogger({ level: 'silent', name: 'test' }), only: ['databaseUrl' as const], small: true }
  await (await startEngines(elsewhere, options)).stop()
  await rm(join(elsewhere, 'postgres-superuser'))
  await expect(startEngines(elsewhere, options)).rejects.toThrow(/rejects the password in .*postgres-superuser/)
})

test.runIf(process.getuid?.() === 0)('a data directory that root copied is given back to its users', async () => {
  const place = join(folder, 'copied')
  const options = { log: createLogger({ level: 'silent', name: 'test' }), small: true }
  const first = await startEngines(place, options)
  const redis = connectRedis(first.redisUrl ?? '', 'command')
  await redis.set('kept', '1')
  redis.disconnect()
  await first.stop()
  await promisify(execFile)('chown', ['-R', '0:0', join(place, 'redis'), join(place, 'clickhouse')])

  const second = await startEngines(place, options)
  const again = connectRedis(second.redisUrl ?? '', 'command')
  expect(await again.get('kept')).toBe('1')
  again.disconnect()
  await second.stop()
})

// 1 GB of segments may take at most an eighth of the free space.
const disk = await statfs(tmpdir())
const hasRoom = (disk.bavail * disk.bsize) / 8 > 2 ** 30

describe('segments of Postgres’ log', () => {
  const options = { log: createLogger({ level: 'silent', name: 'test' }), only: ['databaseUrl' as const] }
  const countAhead = async (sql: Sql) => {
    const [row] = await sql<{ ahead: number }[]>`
      select count(*)::int as ahead from pg_ls_waldir()
      where name ~ '^[0-9A-F]{24}$' and name > pg_walfile_name(pg_current_wal_lsn())`
    return row?.ahead
  }

  test.runIf(hasRoom)(
    'are all used once by a new installation, also when its start was cut short, and stay',
    async () => {
      const place = join(folder, 'log')
      await (await startEngines(place, options)).stop()
      const engines = await startEngines(place, options)
      const sql = connectPostgres(await superuserUrl(place, engines.databaseUrl ?? ''), { max: 1 })
      await expect.poll(() => countAhead(sql), { timeout: PATIENCE_MS }).toBeGreaterThan(60)
      // After these, Postgres expects little log and would remove segments that it need not keep.
      for (let quiet = 0; quiet < 20; quiet += 1) {
        await sql`select pg_logical_emit_message(false, 'test', ''), pg_switch_wal()`
        await sql`checkpoint`
      }
      expect(await countAhead(sql)).toBeGreaterThan(60)
      await sql.end()
      await engines.stop()
    },
  )

  test('are not, where they would take more than an eighth of the room', async () => {
    const place = join(folder, 'small-log')
    const engines = await startEngines(place, { ...options, small: true })
    const sql = connectPostgres(await superuserUrl(place, engines.databaseUrl ?? ''), { max: 1 })
    const url = await superuserUrl(place, engines.databaseUrl ?? '')
    const { bavail, bsize } = await statfs(folder)
    const before = await countAhead(sql)
    await preallocateWal(url, folder, Math.ceil((bavail * bsize) / 8 / 2 ** 24) + 100)
    expect(await countAhead(sql)).toBe(before)
    await preallocateWal(url, folder, 4)
    expect(await countAhead(sql)).toBe(3)
    // Continues after the last segment: those three do not count as new.
    await preallocateWal(url, folder, 6)
    expect(await countAhead(sql)).toBe(5)
    await sql.end()
    await engines.stop()
  })
})
