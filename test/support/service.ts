/**
 * Runs the whole service on a separate stack in this process: front door, ingest loops, timeline, segment worker and
 * campaigns, over real HTTP.
 */
import { uuidv7 } from 'uuidv7'
import { createContactCaches } from '../../src/contacts/load/contact-cache.ts'
import { createLogger } from '../../src/log.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { type RedisRole, connectRedis } from '../../src/stores/redis.ts'
import { createWaker, listenForWakeUps } from '../../src/stores/wake-ups.ts'
import { PARTITION_KINDS } from '../../src/stream/partitions/partition-of.ts'
import { startIngestLoops } from '../../src/stream/consume/start-ingest-loops.ts'
import { createSubmitter } from '../../src/stream/publish/submit.ts'
import type { Keep } from '../../src/stream/consume/trim.ts'
import { openCallEngine } from '../../src/calls/engine/open-call-engine.ts'
import { runCalls } from '../../src/calls/engine/run-calls.ts'
import { createReporter } from '../../src/calls/settled-calls.ts'
import { openEngine } from '../../src/campaigns/engine/open-engine.ts'
import { runBranches } from '../../src/campaigns/engine/branches/run-branches.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { runSegments } from '../../src/segments/run-segments.ts'
import { runTimeline } from '../../src/timeline/run-timeline.ts'
import { applyBatch } from '../../workers/apply-batch.ts'
import { type Stack, type StackOptions, openStack } from './stack.ts'

export interface Service extends Stack {
  url: string
  /** Resolves when everything recorded so far is in ClickHouse. */
  shipped(): Promise<void>
}

interface ServiceOptions extends StackOptions {
  /** For tests of the front door alone. The workers take most of the startup time and of the connections. */
  withoutWorkers?: boolean
}

export async function openService(
  environment: Record<string, string> = {},
  { withoutWorkers = false, ...options }: ServiceOptions = {},
): Promise<Service> {
  const stack = await openStack(environment, options)
  const { url, stop } = await (withoutWorkers ? startFrontDoor(stack, { withoutWorkers }) : startService(stack))
  return {
    ...stack,
    url,
    shipped: () => untilShipped(stack),
    async close() {
      await stop()
      await stack.close()
    },
  }
}

interface Started {
  url: string
  stop(): Promise<void>
}

async function startFrontDoor(stack: Stack, { withoutWorkers = false } = {}): Promise<Started> {
  const { url, close } = await runFrontDoor(stack.config)
  await untilReady(url, { withoutWorkers })
  return { url, stop: close }
}

/** Starts a front door and workers on existing stores, which remain afterwards. */
export async function startService(stack: Stack, { keep }: { keep?: Keep } = {}): Promise<Started> {
  const log = createLogger({ level: 'silent', name: 'test' })
  const sql = connectPostgres(stack.databaseUrl, { max: 8, name: 'test-workers' })
  const redis = connectRedis(stack.redisUrl, 'command', log)
  const pipeline = { sql, log, configs: new Map(), contactsOf: createContactCaches() }
  const web = { sql, clickhouse: stack.clickhouse, log }
  const loops = startIngestLoops(
    {
      sql,
      redis,
      connectReader: () => connectRedis(stack.redisUrl, 'read', log),
      apply: (...batch) => applyBatch({ pipeline, web }, ...batch),
      log,
    },
    { owner: `test-${uuidv7()}`, kinds: PARTITION_KINDS, leaseMs: stack.config.leaseMs, ...(keep && { keep }) },
  )
  const stopping = new AbortController()
  const timeline = runTimeline({ sql, clickhouse: stack.clickhouse, log, config: stack.config }, stopping.signal)
  const connect = (role: RedisRole) => connectRedis(stack.redisUrl, role, log)
  const roles = { publish: connect('publish'), subscribe: connect('subscribe'), command: connect('command') }
  const wake = createWaker(roles.publish, log)
  const segments = runSegments(
    { sql, clickhouse: stack.clickhouse, log, config: stack.config, configs: new Map(), now: Date.now, wake },
    stopping.signal,
  )
  const submitter = createSubmitter({ sql, redis: roles, log }, stack.config)
  const { submit } = submitter
  const wakeUps = listenForWakeUps(roles.subscribe, 'campaigns', log)
  const engineDeps = { sql, log, guard: guardOf(stack.config), config: stack.config, now: Date.now, submit, wakeUps }
  const engine = openEngine(engineDeps)
  const campaigns = runCampaigns(engine.deps, stopping.signal)
  const callWakeUps = listenForWakeUps(roles.subscribe, 'calls', log)
  const report = createReporter(roles.publish, log)
  const callEngine = openCallEngine({ ...engineDeps, wakeUps: callWakeUps, report })
  const calls = runCalls(callEngine.deps, stopping.signal)
  const branches = runBranches(
    { sql, clickhouse: stack.clickhouse, log, config: stack.config, now: Date.now },
    stopping.signal,
  )
  const frontDoor = await startFrontDoor(stack)
  return {
    url: frontDoor.url,
    async stop() {
      await frontDoor.stop()
      await loops.stop()
      stopping.abort()
      await Promise.all([timeline, segments, campaigns, calls, branches])
      await engine.close()
      await callEngine.close()
      callWakeUps.close()
      await submitter.close()
      wakeUps.close()
      for (const connection of [redis, ...Object.values(roles)]) connection.disconnect()
      await sql.end({ timeout: 1 })
    },
  }
}

/**
 * Until the service is ready, a front door may refuse requests: on a busy machine its connection to Redis may open
 * later than its port.
 */
async function untilReady(url: string, { withoutWorkers }: { withoutWorkers: boolean }): Promise<void> {
  const deadline = Date.now() + 100_000
  for (;;) {
    const answer = await fetch(`${url}/readyz`)
    const { error } = (await answer.json()) as { error?: { issues?: { message: string }[] } }
    const missing = (error?.issues ?? []).map(({ message }) => message)
    if (answer.ok || (withoutWorkers && missing.length > 0 && missing.every((one) => one.startsWith('workers: '))))
      return
    if (Date.now() > deadline) throw new Error(`the service was not ready within 100 s: ${missing.join('; ')}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export async function untilShipped({ sql }: Stack): Promise<void> {
  const deadline = Date.now() + 100_000
  while (Date.now() < deadline) {
    const [{ waiting }] = await sql<[{ waiting: number }]>`
      select count(*)::int as waiting from outbox where shipped_at is null`
    if (waiting === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the outbox was not shipped within 100 s')
}
