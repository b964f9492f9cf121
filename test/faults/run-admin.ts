/** Runs `admin …` like an operator, in a separate process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import type { World } from './world.ts'

export interface Admin {
  /** Resolves with the exit code; null when it was killed. */
  ended: Promise<number | null>
  /** Standard output and standard error so far. */
  out(): string
  err(): string
  kill(): void
}

export function startAdmin({ stores, folder }: World, words: string[]): Admin {
  const [command = '', ...args] = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), ['admin', ...words])
  const { databaseUrl, redisUrl, clickhouseUrl } = stores
  const child = spawn(command, args, {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      CLICKHOUSE_URL: clickhouseUrl,
      DATA_DIR: folder,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const written = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.err += text))
  return {
    ended: once(child, 'close').then(([code]) => code as number | null),
    out: () => written.out,
    err: () => written.err,
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Runs a command with `--json`. Also returns the result when the exit code reports partial success. */
export async function askAdmin<Json>(world: World, ...words: string[]): Promise<Json> {
  const admin = startAdmin(world, [...words, '--json'])
  await admin.ended
  return JSON.parse(admin.out()) as Json
}
