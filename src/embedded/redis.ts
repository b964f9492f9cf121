import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { connectRedis, type Redis, whenReady } from '../stores/redis.ts'
import { type Address, type EngineSetup, type RunningEngine, writeWhole } from './engine-setup.ts'
import { plainEnvironment } from './engine-command.ts'
import { ensureRedis } from './ensure-redis.ts'
import { chooseRunner, giveFile, giveFolder } from './run-as.ts'
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

export const redisUrl = ({ port, password }: Address): string => `redis://:${password}@127.0.0.1:${port}/0`

export async function startRedis(setup: EngineSetup, log: Logger): Promise<RunningEngine> {
  const binary = await ensureRedis(log)
  const folder = join(setup.dataDir, 'redis')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(setup.dataDir, 'redis.conf')
  const runner = await chooseRunner('sluice-redis', [binary, setup.dataDir], log)
  await writeWhole(file, configuration(setup, folder))
  await giveFile(file, runner)
  await giveFolder(folder, runner)
  const command = [...runner.prefix, binary, file]
  const environment = { ...plainEnvironment(), HOME: folder }
  const engine = {
    name: 'redis',
    dataDir: setup.dataDir,
    folder,
    command,
    environment,
    signal: 'TERM' as const,
  }
  const running = await runEngine(engine, setup.signal)
  const url = redisUrl(setup)
  await untilReady(engine, running, answers(url, setup.timeoutMs), setup.signal)
  return { ...running, url }
}

/** Ready means that the log of appended entries is loaded. */
async function answers(url: string, timeoutMs: number): Promise<void> {
  const redis = connectRedis(url, 'command')
  try {
    await whenReady(redis, timeoutMs)
    await hideData(redis)
  } finally {
    redis.disconnect()
  }
}

/** After a crash Redis logs the command that it was at, with what it carries. */
async function hideData(redis: Redis): Promise<void> {
  // Older versions can only log nothing of a crash.
  await redis
    .config('SET', 'hide-user-data-from-log', 'yes')
    .catch(() => redis.config('SET', 'crash-log-enabled', 'no'))
}
