/** Runs a front door as a separate process, isolated from the test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import { RUNTIMES } from './runtimes.ts'

export interface LogLine {
  msg: string
  [field: string]: unknown
}

export interface FrontDoorProcess {
  url: string
  /** Returns the lines that it has logged. */
  lines(): LogLine[]
  /** Stops it gracefully; resolves when it has ended. */
  stop(): Promise<void>
}

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

/** `runtime`: a name in RUNTIMES. */
export async function startFrontDoor(
  stores: StoreUrls,
  environment: Record<string, string> = {},
  runtime = 'bun',
): Promise<FrontDoorProcess> {
  const [command = '', ...args] = [...(RUNTIMES[runtime] ?? []), CLI, 'serve']
  const env = {
    PATH: process.env['PATH'],
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'info',
    DRAIN_MS: '0',
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    ...environment,
  }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const opened = Promise.withResolvers<string>()
  const lines: LogLine[] = []
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as LogLine
    lines.push(line)
    if (typeof line['url'] === 'string') opened.resolve(line['url'])
  })
  const died = ended.then(() => {
    throw new Error('the front door ended before it was open')
  })
  return {
    url: await Promise.race([opened.promise, died]),
    lines: () => lines,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
