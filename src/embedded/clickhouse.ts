import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { calmRuntime } from './calm-runtime.ts'
import { DATABASE, type EngineSetup, passwordFile, type RunningEngine, USER } from './engine-setup.ts'
import { runEngine, runtimeCommand, untilReady } from './run-engine.ts'

/** Queries at once; the runtimes' own pools are as small as two threads. */
const THREADS = 16
/** Its inserts and merges take all cores for a while: nobody waits for them, but everybody would. */
const NICENESS = '10'
/**
 * Linux may divide the time among sessions first (autogroups), and every engine is a session of its own: there a niceness
 * counts for nothing unless the session has it, too.
 */
const GIVE_WAY = `niceness=$1; shift
{ echo "$niceness" >/proc/self/autogroup; } 2>/dev/null
exec nice -n "$niceness" "$@"`

export async function startClickHouse(setup: EngineSetup): Promise<RunningEngine> {
  const folder = join(setup.dataDir, 'clickhouse')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const options = {
    port: String(setup.port),
    user: USER,
    'password-file': passwordFile(setup.dataDir),
    database: DATABASE,
  }
  const command = [
    '/bin/sh',
    '-c',
    GIVE_WAY,
    'sluice-give-way',
    NICENESS,
    'env',
    'TZ=UTC',
    `UV_THREADPOOL_SIZE=${THREADS}`,
    ...Object.entries(calmRuntime()).map(([name, value]) => `${name}=${value}`),
    ...runtimeCommand(
      new URL('clickhouse-server.ts', import.meta.url),
      Object.entries(options).map(([name, value]) => `--${name}=${value}`),
    ),
  ]
  const engine = { name: 'clickhouse', dataDir: setup.dataDir, folder, command, signal: 'TERM' as const }
  const running = await runEngine(engine, setup.signal)
  const address = `127.0.0.1:${setup.port}`
  await untilReady(engine, running, answers(`http://${address}/ping`, setup), setup.signal)
  return { ...running, url: `http://${USER}:${setup.password}@${address}/${DATABASE}` }
}

async function answers(ping: string, { timeoutMs, signal }: EngineSetup): Promise<void> {
  const deadline = Date.now() + timeoutMs
  const isUp = () =>
    fetch(ping).then(
      (response) => response.ok,
      () => false,
    )
  while (!(await isUp())) {
    if (Date.now() > deadline) throw new Error(`ClickHouse does not answer after ${timeoutMs} ms`)
    await sleep(20, undefined, { signal })
  }
}
