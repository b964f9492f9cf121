/** Streams whose number of partitions changes: the command for it, callers during the change, and the final checks. */
import { setTimeout as sleep } from 'node:timers/promises'
import { uuidv7 } from 'uuidv7'
import { expect, vi } from 'vitest'
import type { Actor } from '../../src/audit/audit.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import {
  type ChangeOptions,
  type ChangeResult,
  changePartitions,
} from '../../src/stream/partitions/change-partitions.ts'
import { raiseFences } from '../../src/stream/partitions/fence.ts'
import type { MicroBatch } from '../../src/stream/micro-batch.ts'
import { PARTITION_KINDS, allPartitions } from '../../src/stream/partitions/partition-of.ts'
import { beginChange, closeKinds, readPartitionMap } from '../../src/stream/partitions/partition-map.ts'
import { readPositions } from '../../src/stream/partitions/positions.ts'
import type { Submitter } from '../../src/stream/publish/submit.ts'
import { type IngestLab, applyOnce, batchOf, event } from './ingest-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

export const ACTOR: Actor = { kind: 'command', id: 'test', name: 'test' }
export const soon = { timeout: PATIENCE_MS, interval: 5 }
export const queueOnly = { wait: false }

interface How extends Partial<ChangeOptions> {
  sql?: Sql
  /** Collects the messages of the command. */
  reports?: string[]
}

/** Changes the number as the operator's command does. */
export function change(
  lab: IngestLab,
  to: number,
  { sql = lab.sql, reports = [], ...options }: How = {},
): Promise<ChangeResult> {
  return changePartitions(
    { sql, redis: lab.redis, report: (text) => void reports.push(text) },
    { actor: ACTOR, to, livePauseMs: 2000, signal: new AbortController().signal, ...options },
  )
}

/** Ends the time of a change whose command no longer renews it. */
export const lapse = ({ sql }: IngestLab) =>
  sql`update partitioning set change_until = now() - interval '1 second' where change_to is not null`

/** Closes all partitions like a command that then takes its time. Resolves with the version. */
export async function closeAll({ sql, redis }: IngestLab): Promise<number> {
  const begun = await beginChange(sql, (await readPartitionMap(sql)).version, 3)
  const version = (await closeKinds(sql, begun ?? 0, [...PARTITION_KINDS])) ?? 0
  await sql`update partitioning set change_until = now() + interval '50 seconds'`
  await raiseFences(redis, allPartitions(2), version, await readPositions(sql))
  return version
}

export const rowsThere = async ({ sql }: IngestLab) => [...(await readPositions(sql)).keys()].toSorted()

export async function untilEmpty(lab: IngestLab): Promise<void> {
  const partitions = await rowsThere(lab)
  await vi.waitUntil(async () => {
    const lengths = await Promise.all(partitions.map((partition) => lab.length(partition)))
    return lengths.every((length) => length === 0)
  }, soon)
}

/** Opens workers that apply no batch of one kind until the gate opens. */
export function openGated(lab: IngestLab, kind: string): PromiseWithResolvers<void> {
  const gate = Promise.withResolvers<void>()
  const apply = async (batch: MicroBatch) => {
    if (batch.partition.startsWith(kind)) await gate.promise
    return applyOnce(lab.sql, batch)
  }
  lab.worker('gated', { apply })
  return gate
}

/**
 * Sends requests of one business, each after the answer to the previous one. Resolves with those that were accepted, in
 * order.
 */
export interface Caller {
  /** The requests that were accepted so far. */
  taken: readonly string[]
  stop(): Promise<string[]>
}
export function startCaller(frontDoor: Submitter, send: 'live' | 'batch', businessId: string = uuidv7()): Caller {
  const taken: string[] = []
  let stopped = false
  const run = async (): Promise<void> => {
    for (let at = 0; !stopped; at += 1) {
      const id = `${send}-${businessId}-${at}`
      const request = send === 'live' ? event(id, businessId) : batchOf(id, businessId, 3)
      for (;;) {
        const { kind } = await frontDoor.submit(request, { wait: at % 3 > 0 })
        if (kind === 'outcome_unknown') throw new Error(`${id} is unknown`)
        if (kind !== 'unavailable') break
        if (stopped) return
        await sleep(5)
      }
      taken.push(id)
    }
  }
  const running = run()
  return {
    taken,
    async stop() {
      stopped = true
      await running
      return taken
    },
  }
}

/** Expects that each caller's accepted requests are applied once, in its order, and that nothing else is. */
export async function checkApplied(lab: IngestLab, promised: string[][]): Promise<void> {
  await untilEmpty(lab)
  const applied = await lab.applied()
  expect(new Set(applied).size).toBe(applied.length)
  expect(applied.length).toBe(promised.flat().length)
  for (const taken of promised) {
    const [first = ''] = taken
    const prefix = first.slice(0, first.lastIndexOf('-'))
    expect(applied.filter((id) => id.startsWith(`${prefix}-`))).toEqual(taken)
  }
}

/** Returns a connection for a command that dies or falls asleep at the statement with this number. */
export function pauseAt(
  whole: Sql,
  statement: number,
  what: { before: boolean },
): { sql: Sql; reached: Promise<void>; goOn(): void } {
  const reached = Promise.withResolvers<void>()
  const asleep = Promise.withResolvers<void>()
  let count = 0
  const ask = (strings: TemplateStringsArray, ...values: never[]): unknown => {
    const query = whole(strings, ...values)
    // Fragments of statements do not count.
    if (!/^\s*(select|update|with)/.test(strings[0] ?? '')) return query
    count += 1
    if (count !== statement) return query
    if (!what.before) return query.then((rows) => (reached.resolve(), asleep.promise.then(() => rows)))
    reached.resolve()
    return asleep.promise.then(() => query)
  }
  return { sql: ask as unknown as Sql, reached: reached.promise, goOn: () => asleep.resolve() }
}
