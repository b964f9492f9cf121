/**
 * Each kind of partition has connections of its own, and live ones a thread: a delay in one kind does not delay the
 * others.
 */
import { expect, it } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { connectRedis } from '../../src/stores/redis.ts'
import { allPartitions, partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { unownedPartitions } from '../../src/stream/partitions/positions.ts'
import { createSubmitter } from '../../src/stream/publish/submit.ts'
import { runLowPriorityIngest, runUrgentIngest } from '../../workers/threads/ingest.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { captureOf, hitOf, newVisitor } from '../web-events/web-lab.ts'
import { batchOf, event } from './ingest-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

/** More web partitions than a thread ever has connections for. */
const PARTITIONS = 6
const LEASE_MS = 2000

it('live saves and batches go on, and have their leases, while every web partition waits for Postgres', async () => {
  const stack = await openStack()
  const { sql } = stack
  await sql`truncate positions`
  await sql`update partitioning set partitions = ${PARTITIONS}`
  const names = JSON.stringify(allPartitions(PARTITIONS))
  await sql`insert into positions (partition) select json_array_elements_text(${names}::text::json)`
  const log = createLogger({ level: 'silent', name: 'test' })
  const stopping = new AbortController()
  const config = { ...stack.config, ...stack, leaseMs: LEASE_MS }
  const tools = (name: string) => ({
    name,
    log,
    metrics: createMetrics(),
    reportDegraded: () => undefined,
    reportBlocked: () => undefined,
  })
  const redis = {
    publish: connectRedis(stack.redisUrl, 'publish'),
    subscribe: connectRedis(stack.redisUrl, 'subscribe'),
    command: stack.redis,
  }
  const limits = { answerTimeoutMs: PATIENCE_MS, backlogLimitBytes: 2 ** 28, maxInFlight: 1000 }
  const frontDoor = createSubmitter({ sql, log, redis }, limits)
  const working = Promise.all([
    runUrgentIngest(config, tools('a'), stopping.signal),
    runLowPriorityIngest(config, tools('b'), stopping.signal),
  ])
  const attended = async () =>
    (await sql`select from positions where owner is not null`).count === allPartitions(PARTITIONS).length
  await expect.poll(attended, { timeout: PATIENCE_MS }).toBe(true)
  await expect.poll(() => frontDoor.isOpen(), { timeout: PATIENCE_MS }).toBe(true)
  const { businessId } = await createBusiness(sql)

  const holder = await sql.reserve()
  await holder`begin`
  await holder`select from positions where partition like 'web-%' for update`
  try {
    for (let worker = 0; worker < PARTITIONS; worker += 1) {
      let visitor = newVisitor()
      while (partitionOf('web', visitor, PARTITIONS) !== `web-${worker}`) visitor = newVisitor()
      await frontDoor.submit(captureOf(businessId, visitor, [hitOf()]), { wait: false })
    }
    const waiting = async () =>
      (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).count
    await expect.poll(waiting, { timeout: PATIENCE_MS }).toBeGreaterThanOrEqual(4)
    await new Promise((resolve) => setTimeout(resolve, 1.5 * LEASE_MS))
    expect((await frontDoor.submit(event('live', businessId))).kind).toBe('answered')
    expect((await frontDoor.submit(batchOf('past', businessId, 1))).kind).toBe('answered')
    // On a busy machine a lease may end early, and is taken again. A thread that waited itself could not do so.
    const unowned = async () => (await unownedPartitions(sql)).filter((partition) => !partition.startsWith('web-'))
    await expect.poll(unowned, { timeout: PATIENCE_MS }).toEqual([])
  } finally {
    await holder`rollback`
    holder.release()
    stopping.abort()
    await working
    await frontDoor.close()
    redis.publish.disconnect()
    redis.subscribe.disconnect()
    await stack.close()
  }
})
