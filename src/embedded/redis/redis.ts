import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../log.ts'
import { connectRedis, type Redis, whenReady } from '../../stores/redis.ts'
import { type Address, type EngineSetup, type RunningEngine, writeWhole } from '../engine-setup.ts'
import { plainEnvironment } from '../processes/engine-command.ts'
import { ensureRedis } from './ensure-redis.ts'
import { chooseRunner, changeFileOwner, changeFolderOwner } from '../processes/run-as.ts'
import { runEngine, untilReady } from '../processes/run-engine.ts'

/** A 202 is a promise: Redis writes appended entries to the disk before it replies, and never evicts anything. */
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
daemonize no
loglevel warning
`

export const redisUrl = ({ port, password }: Address): string => `redis://:${password}@127.0.0.1:${port}/0`

export async function startRedis(setup: EngineSetup, log: Logger): Promise<RunningEngine> {
  const binary = await ensureRedis(setup.step)
  const folder = join(setup.dataDir, 'redis')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(setup.dataDir, 'redis.conf')
  const runner = await chooseRunner('sluice-redis', [binary, setup.dataDir], log)
  await writeWhole(file, configuration(setup, folder))
  await changeFileOwner(file, runner)
  await changeFolderOwner(folder, runner)
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
  const url = redisUrl(setup)
  return await setup.step('Starting Redis', async () => {
    const running = await runEngine(engine, setup.signal)
    await untilReady(engine, running, answers(url, setup.timeoutMs), setup.signal)
    return { ...running, url }
  })
}

/** Redis is ready when it has loaded its append-only file. */
async function answers(url: string, timeoutMs: number): Promise<void> {
  const redis = connectRedis(url, 'command')
  try {
    await whenReady(redis, timeoutMs)
    await hideData(redis)
  } finally {
    redis.disconnect()
  }
}

/** After a crash, Redis logs the command that it was processing, with its data. This prevents that. */
async function hideData(redis: Redis): Promise<void> {
  // Older versions can only disable the whole crash log.
  await redis
    .config('SET', 'hide-user-data-from-log', 'yes')
    .catch(() => redis.config('SET', 'crash-log-enabled', 'no'))
}
