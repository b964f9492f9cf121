import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../log.ts'
import { ANALYST } from './analyst-role.ts'
import { runtimeEnv } from '../processes/runtime-env.ts'
import { plainEnvironment } from '../processes/engine-command.ts'
import {
  type Address,
  DATABASE,
  type EngineSetup,
  passwordFile,
  type RunningEngine,
  USER,
  writeWhole,
} from '../engine-setup.ts'
import { chooseRunner, changeFileOwner, changeFolderOwner } from '../processes/run-as.ts'
import { runEngine, runtimeCommand, untilReady } from '../processes/run-engine.ts'

/** Maximum number of concurrent queries. Thread pools of the runtimes can be as small as two threads by default. */
const THREADS = 16
/** Inserts and merges use all cores for a while. No request waits for them, so other processes get priority. */
const NICENESS = '10'
/**
 * Linux may first divide CPU time between sessions (autogroups), and every engine is a session of its own. Then the
 * niceness of a process has no effect unless its session has the same one.
 */
const RENICE_SCRIPT = `niceness=$1; shift
{ echo "$niceness" >/proc/self/autogroup; } 2>/dev/null
exec nice -n "$niceness" "$@"`

export const clickHouseUrl = ({ port, password }: Address): string =>
  `http://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`

export async function startClickHouse(setup: EngineSetup, log: Logger): Promise<RunningEngine> {
  const folder = join(setup.dataDir, 'clickhouse')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const program = new URL('clickhouse-server.ts', import.meta.url)
  const runner = await chooseRunner(
    'sluice-clickhouse',
    [process.execPath, dirname(fileURLToPath(program)), setup.dataDir],
    log,
  )
  const password = join(setup.dataDir, 'clickhouse.password')
  const analystPassword = passwordFile(setup.dataDir, ANALYST)
  await writeWhole(password, setup.password)
  await Promise.all([password, analystPassword].map((file) => changeFileOwner(file, runner)))
  await changeFolderOwner(folder, runner)
  const options = {
    port: String(setup.port),
    user: USER,
    'password-file': password,
    'analyst-password-file': analystPassword,
    database: DATABASE,
  }
  const command = [
    '/bin/sh',
    '-c',
    RENICE_SCRIPT,
    'sluice-give-way',
    setup.small ? '0' : NICENESS,
    ...runner.prefix,
    ...runtimeCommand(program, [
      ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
      ...(setup.small ? ['--no-sync'] : []),
      ...(setup.inMemory ? ['--no-watch'] : []),
    ]),
  ]
  const environment = { ...plainEnvironment(), ...runtimeEnv(), UV_THREADPOOL_SIZE: String(THREADS), HOME: folder }
  const engine = { name: 'clickhouse', dataDir: setup.dataDir, folder, command, environment, signal: 'TERM' as const }
  return await setup.step('Starting ClickHouse', async () => {
    const running = await runEngine(engine, setup.signal)
    await untilReady(engine, running, answers(`http://127.0.0.1:${setup.port}/ping`, setup), setup.signal)
    return { ...running, url: clickHouseUrl(setup) }
  })
}

/** Returns the address of the same server for analysts. */
export function analystUrl(url: string, password: string): string {
  const changed = new URL(url)
  changed.username = ANALYST
  changed.password = password
  return changed.href
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
