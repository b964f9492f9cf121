import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { resolveStores } from '../stores/data-dir.ts'
import { createLogger } from '../log.ts'
import { connectPostgres, type Sql } from '../stores/postgres.ts'
import { connectRedis, type RedisRole } from '../stores/redis.ts'
import { createSubmitter, type Submit, type Submitter } from '../stream/publish/submit.ts'
import { CommandError } from './command.ts'

const OPEN_MS = 10_000

/**
 * Calls `use` with Postgres and a submitter of requests to the workers, then closes both. Throws CommandError when
 * Redis does not answer.
 */
export async function withSubmitter<Result>(
  config: Config,
  use: (deps: { sql: Sql; submit: Submit }) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl, redisUrl } = await resolveStores(config)
  const log = createLogger({ level: config.logLevel, name: 'admin', to: 2 })
  const sql = connectPostgres(databaseUrl, { max: 2, name: 'sluice-admin' })
  const connect = (role: RedisRole) => connectRedis(redisUrl, role, log)
  const redis = { publish: connect('publish'), subscribe: connect('subscribe'), command: connect('command') }
  try {
    const submitter = createSubmitter({ sql, redis, log }, config)
    try {
      await waitUntilOpen(submitter)
      return await use({ sql, submit: submitter.submit })
    } finally {
      await submitter.close()
    }
  } finally {
    for (const connection of Object.values(redis)) connection.disconnect()
    await sql.end({ timeout: 1 })
  }
}

async function waitUntilOpen(submitter: Submitter): Promise<void> {
  const deadline = Date.now() + OPEN_MS
  while (!submitter.isOpen()) {
    if (Date.now() > deadline) throw new CommandError('unavailable', 'Redis does not answer. Is Sluice running?')
    await sleep(20)
  }
}
