// @long
/** The command line, and the engines of a directory that lost something or was copied. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { startEngines } from '../../src/embedded/engines.ts'
import { superuserUrl } from '../../src/embedded/postgres/prepare-postgres.ts'
import { preallocateWal } from '../../src/embedded/postgres/preallocate-wal.ts'
import { createLogger } from '../../src/log.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { killRuns, type Run, runCli } from '../support/run-cli.ts'
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
  await rm(folder, { recursive: true, force: true })
})

const run = (...words: string[]): Run => runCli({ DATA_DIR: dataDir }, ...words)

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
