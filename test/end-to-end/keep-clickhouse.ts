/**
 * A separate embedded ClickHouse that is started again whenever it ends. Its directory can be changed while it is down.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { keepRunning } from '../../src/embedded/processes/keep-running.ts'
import { environmentWithout } from '../../src/embedded/processes/engine-command.ts'
import { freePort, runEngine, runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

/** Errors of a connection whose other end has gone. */
export const CUT_OFF = /socket|ECONNRE|hang up|closed/i

const SERVER = new URL('../../src/embedded/clickhouse/clickhouse-server.ts', import.meta.url)

export interface KeptClickHouse {
  folder: string
  client: ClickHouseClient
  /** The last output of each process that ended by itself. */
  ends: string[]
  /** Called when the process has ended by itself, before it is started again. */
  whenEnded: () => void
  pid(): Promise<number>
  untilUp(): Promise<unknown>
  /** Kills the process, and calls `change` before it is started again. */
  restart(change: () => Promise<unknown>): Promise<void>
  close(): Promise<void>
}

interface Keeping {
  /** A command that wraps the engine's command. */
  before?: string[]
  /** The runtime. Default: the current one. */
  runtime?: string[]
}

export async function keepClickHouse({ before = [], runtime }: Keeping = {}): Promise<KeptClickHouse> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-engine-'))
  const folder = join(dataDir, 'clickhouse')
  await mkdir(folder)
  await writeFile(join(dataDir, 'password'), 'secret')
  const ends: string[] = []
  const port = await freePort()
  const options = [`--port=${port}`, '--user=sluice', `--password-file=${join(dataDir, 'password')}`, '--database=d']
  const run = runtime ? [...runtime, fileURLToPath(SERVER), ...options] : runtimeCommand(SERVER, options)
  const command = [...before, ...run]
  const engine = {
    name: 'clickhouse',
    dataDir,
    folder,
    command,
    environment: environmentWithout(),
    signal: 'TERM' as const,
  }
  const url = `http://sluice:secret@127.0.0.1:${port}/d`
  const kept = await keepRunning({
    name: 'clickhouse',
    log: {
      error(facts) {
        ends.push((facts as { lastWords: string }).lastWords)
        keeping.whenEnded()
      },
    },
    start: async () => ({ ...(await runEngine(engine)), url }),
  })
  const client = connectClickHouse(url, { toPublic: true })
  const pid = async () => Number(await readFile(join(dataDir, 'clickhouse.pid'), 'utf8'))
  const untilUp = () => vi.waitFor(() => client.command({ query: 'select 1' }), { timeout: PATIENCE_MS, interval: 50 })
  const keeping: KeptClickHouse = {
    folder,
    client,
    ends,
    whenEnded: () => undefined,
    pid,
    untilUp,
    async restart(change) {
      const running = await pid()
      process.kill(running, 'SIGSTOP')
      await change()
      process.kill(running, 'SIGKILL')
      await vi.waitUntil(() => ends.length > 0, { timeout: PATIENCE_MS })
      ends.length = 0
      await untilUp()
    },
    async close() {
      await client.close()
      await kept.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  await untilUp()
  return keeping
}

/** Returns the directory of the table that holds the first part. */
export async function findTable(folder: string): Promise<string> {
  const paths = await readdir(join(folder, 'store'), { recursive: true })
  return join(folder, 'store', dirname(paths.find((path) => /\/all_1_1_\d$/.test(path)) ?? ''))
}
