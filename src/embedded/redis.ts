import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { connectRedis, whenReady } from '../stores/redis.ts'
import type { EngineSetup, RunningEngine } from './engine-setup.ts'
import { ensureRedis } from './ensure-redis.ts'
import { runEngine, untilReady } from './run-engine.ts'

/** A 202 is a promise: what is appended is on the disk before Redis answers, and nothing is ever evicted. */
const configuration = (setup: EngineSetup, folder: string): string => `
bind 127.0.0.1
port ${setup.port}
requirepass ${setup.password}
dir "${folder}"
appendonly yes
appendfsync always
save ""
maxmemory-policy noeviction
databases 512
hz 2
daemonize no
loglevel warning
`

export async function startRedis(setup: EngineSetup, log: Logger): Promise<RunningEngine> {
  const binary = await ensureRedis(log)
  const folder = join(setup.dataDir, 'redis')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'redis.conf')
  await writeFile(file, configuration(setup, folder), { mode: 0o600 })
  const engine = { name: 'redis', dataDir: setup.dataDir, folder, command: [binary, file], signal: 'TERM' as const }
  const running = await runEngine(engine, setup.signal)
  const url = `redis://:${setup.password}@127.0.0.1:${setup.port}/0`
  await untilReady(engine, running, answers(url, setup.timeoutMs), setup.signal)
  return { ...running, url }
}

/** Ready means that the log of appended entries is loaded. */
async function answers(url: string, timeoutMs: number): Promise<void> {
  const redis = connectRedis(url, 'command')
  try {
    await whenReady(redis, timeoutMs)
  } finally {
    redis.disconnect()
  }
}
