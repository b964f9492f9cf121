/**
 * Changes the number of partitions of a running system. A business may then map to another partition, so every entry in
 * the old partitions has to be applied first. Each kind of partition is closed, drained by the workers, and reopened
 * with the new number. It is closed first in Postgres, which front doors read when they connect, and then by fences in
 * Redis, which refuse the front doors that have not read the change. Backfill is closed first, since draining it can
 * take a while. Web follows: it waits for ClickHouse, and browsers keep the events that are refused. Live is closed
 * only while its last requests are applied.
 *
 * This process may die or pause at any time. Each step requires the version that the previous step wrote, a change that
 * is not renewed ends automatically, and the data that remains in Redis stays correct.
 */
import { backoffMs } from '../../async/backoff.ts'
import { type Actor, recordAudit } from '../../audit/audit.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Redis } from '../../stores/redis.ts'
import type { PartitionBacklog } from './fence.ts'
import { type MeasuredBacklog, describeWaiting, measureBacklogs, readAttended } from './measure-backlogs.ts'
import { PARTITION_KINDS, type PartitionKind, allPartitions, kindOf } from './partition-of.ts'
import {
  type PartitionMap,
  beginChange,
  cancelChange,
  closeKinds,
  readPartitionMap,
  renewChange,
  switchPartitions,
} from './partition-map.ts'
import { sleep } from '../../async/sleep.ts'
import { readPositions } from './positions.ts'
import { FIRST_ID } from '../stream-id.ts'
import { trim } from '../consume/trim.ts'

export interface ChangeDeps {
  sql: Sql
  /** Connection in the role `command`. */
  redis: Redis
  /** Receives progress messages for the operator. */
  report: (text: string) => void
}
export interface ChangeOptions {
  actor: Actor
  to: number
  /**
   * Longest time, in milliseconds, that live stays closed. After that, live requests are accepted again, and the switch
   * is retried later.
   */
  livePauseMs: number
  signal: AbortSignal
}

export type ChangeResult =
  | { kind: 'changed'; previous: number }
  | { kind: 'unchanged' }
  /** Another command is changing the number. */
  | { kind: 'busy'; to: number }
  /** Requests wait in partitions that have no worker. Nothing was closed. */
  | { kind: 'unattended'; waiting: string }
  /** The signal aborted first, and nothing has changed. `waiting` lists the entries that had not been applied. */
  | { kind: 'given_up'; waiting: string }

const POLL_MS = 50
const REPORT_EVERY_MS = 2000
/** When a worker dies, its partitions have no worker until its leases end. */
const ATTENDED_WITHIN_MS = 6000
/** Live is closed only when the oldest waiting entry is younger than this share of the pause. */
const MAX_AGE_SHARE = 1 / 4
/**
 * Web is closed only when its oldest entry is younger than this. Web events are collected before they are inserted, so
 * even a partition without a backlog has entries up to this age.
 */
const MAX_WEB_AGE_MS = 1000
const RETRY = { firstMs: 1000, maxMs: 30_000 }

/** Thrown when another process ended the change, or when it was not renewed in time. */
class ChangeLostError extends Error {
  override name = 'ChangeLostError'
}

/** A change in progress. */
interface Change extends ChangeOptions {
  deps: ChangeDeps
  from: number
  version: number
  waiting: string
  reportedAt: number
}

/**
 * Rejects when a store cannot be reached at the start. Once the change has begun, it retries until the signal aborts. The
 * entry of the audit log is written first.
 */
export async function changePartitions(deps: ChangeDeps, options: ChangeOptions): Promise<ChangeResult> {
  const { actor, to, signal } = options
  await recordAudit(deps.sql, { businessId: null, actor, action: 'partitions.set', target: null, details: { to } })
  const { partitions: previous } = await readPartitionMap(deps.sql)
  let waiting = ''
  let hasBegun = false
  while (!signal.aborted) {
    try {
      const partitionMap = await waitForOtherChange(deps, signal)
      if (partitionMap.change) return { kind: 'busy', to: partitionMap.change.to }
      if (partitionMap.partitions === to) return previous === to ? { kind: 'unchanged' } : { kind: 'changed', previous }
      waiting = await waitForWorkers(deps, partitionMap.partitions, signal)
      if (waiting !== '' && !signal.aborted) return { kind: 'unattended', waiting }
      const version = await beginChange(deps.sql, partitionMap.version, to)
      if (version === undefined) continue
      hasBegun = true
      const change = { ...options, deps, from: partitionMap.partitions, version, waiting, reportedAt: -Infinity }
      if (await carryOut(change)) return { kind: 'changed', previous }
      waiting = change.waiting
    } catch (error) {
      if (!hasBegun) throw error
      deps.report(`Starting again: ${describe(error)}`)
      await sleep(10 * POLL_MS, signal)
    }
  }
  // The switch may have succeeded although its reply was lost.
  const { partitions } = await readPartitionMap(deps.sql)
  return partitions === to && previous !== to ? { kind: 'changed', previous } : { kind: 'given_up', waiting }
}

/**
 * Waits for the end of a change by another command. A change that is being renewed has a running command; a change that
 * is not renewed ends automatically.
 */
async function waitForOtherChange({ sql, report }: ChangeDeps, signal: AbortSignal): Promise<PartitionMap> {
  let partitionMap = await readPartitionMap(sql)
  const { change } = partitionMap
  if (change) report(`A change to ${change.to} is under way; it ends within seconds if its command has died`)
  while (partitionMap.change && partitionMap.change.until.getTime() === change?.until.getTime() && !signal.aborted) {
    await sleep(4 * POLL_MS, signal)
    partitionMap = await readPartitionMap(sql)
  }
  return partitionMap
}

/** Resolves with the entries that wait in partitions without a worker; '' when there are none. */
async function waitForWorkers(
  { sql, redis, report }: ChangeDeps,
  partitions: number,
  signal: AbortSignal,
): Promise<string> {
  const over = performance.now() + ATTENDED_WITHIN_MS
  for (let tries = 0; ; tries += 1) {
    const attended = await readAttended(sql)
    const backlogs = await measureBacklogs({ sql, redis }, allPartitions(partitions), 0)
    const waiting = describeWaiting(backlogs.filter(({ partition }) => !attended.has(partition)))
    if (waiting === '' || performance.now() > over || signal.aborted) return waiting
    if (tries === 0) report(`No worker has these partitions, and requests wait in them: ${waiting}`)
    await sleep(4 * POLL_MS, signal)
  }
}

/**
 * Resolves with true when the number has changed, and with false when the signal aborted first. In either case, no
 * partition stays closed.
 */
async function carryOut(change: Change): Promise<boolean> {
  const { deps, signal } = change
  let isDone = false
  try {
    deps.report('Batches are refused until the requests that wait are applied')
    await drain(change, partitionsOf(change, 'backfill'), signal)
    await waitUntilNear(change, 'web', MAX_WEB_AGE_MS)
    if (!signal.aborted) await close(change, ['backfill', 'web'])
    await drain(change, partitionsOf(change, 'web'), signal)
    for (let tries = 0; !signal.aborted && !isDone; tries += 1) {
      await waitUntilNear(change, 'live', change.livePauseMs * MAX_AGE_SHARE)
      if (!signal.aborted) isDone = await switchOver(change)
      if (!isDone) await pauseAndRenew(change, backoffMs(tries + 1, RETRY))
    }
    if (isDone) deps.report(REOPENED)
    return isDone
  } finally {
    if (!isDone) await undo(change)
  }
}

const REOPENED = 'Batches are accepted again'

async function undo({ deps, version }: Change): Promise<void> {
  try {
    await cancelChange(deps.sql, version)
    deps.report(REOPENED)
  } catch (error) {
    deps.report(`The change could not be undone; it ends by itself within seconds: ${describe(error)}`)
  }
}

/**
 * Closes all kinds, and reopens them with the new number. When draining takes too long, reopens live with the old
 * number and returns false.
 */
async function switchOver(change: Change): Promise<boolean> {
  const { deps, from, signal, livePauseMs } = change
  await close(change, [...PARTITION_KINDS])
  const timeLimit = AbortSignal.any([signal, AbortSignal.timeout(livePauseMs)])
  const backlogs = await drain(change, allPartitions(from), timeLimit)
  if (!backlogs) {
    await close(change, ['backfill', 'web'])
    if (!signal.aborted) deps.report(`Live requests took longer than ${livePauseMs} ms and are let through again`)
    return false
  }
  const passed = await switchPartitions(deps.sql, change.version, backlogs)
  if (passed === undefined) throw new ChangeLostError('the change was ended meanwhile')
  // Nobody would delete later what removed partitions keep.
  const left = new Set(allPartitions(change.to))
  for (const { partition, lastId } of backlogs)
    if (!left.has(partition)) await trim(deps.redis, partition, lastId).catch(() => undefined)
  if (passed > 0)
    deps.report(`${passed} partitions had lost entries before they were applied; this change did not cause it`)
  return true
}

async function close(change: Change, kinds: PartitionKind[]): Promise<void> {
  const version = await closeKinds(change.deps.sql, change.version, kinds)
  if (version === undefined) throw new ChangeLostError('the change was ended meanwhile')
  change.version = version
}

/** Resolves with the empty partitions; undefined when the signal aborted first. */
async function drain(
  change: Change,
  partitions: string[],
  signal: AbortSignal,
): Promise<MeasuredBacklog[] | undefined> {
  while (!signal.aborted) {
    const backlogs = await renewAndMeasure(change, partitions, change.version)
    if (backlogs?.every(({ waiting }) => waiting === 0)) return backlogs
    await sleep(POLL_MS, signal)
  }
  return undefined
}

async function waitUntilNear(change: Change, kind: PartitionKind, nearMs: number): Promise<void> {
  while (!change.signal.aborted) {
    const backlogs = await renewAndMeasure(change, partitionsOf(change, kind), 0)
    if (backlogs?.every(({ ageMs }) => ageMs < nearMs)) return
    await sleep(2 * POLL_MS, change.signal)
  }
}

async function pauseAndRenew(change: Change, ms: number): Promise<void> {
  const over = performance.now() + ms
  while (performance.now() < over && !change.signal.aborted) {
    await renewAndMeasure(change, [], 0)
    await sleep(10 * POLL_MS, change.signal)
  }
}

/**
 * Renews the change and measures the backlogs. Resolves with undefined when a store did not answer. Throws
 * ChangeLostError.
 */
async function renewAndMeasure(
  change: Change,
  partitions: string[],
  fence: number,
): Promise<MeasuredBacklog[] | undefined> {
  const { sql, report } = change.deps
  try {
    if (!(await renewChange(sql, change.version))) throw new ChangeLostError('it had not been renewed in time')
    const backlogs = await measureBacklogs(change.deps, partitions, fence)
    await reportWaiting(change, backlogs)
    await trimApplied(change, backlogs)
    return backlogs
  } catch (error) {
    if (error instanceof ChangeLostError) throw error
    report(`Waiting for a store: ${describe(error)}`)
    return undefined
  }
}

/** Deletes entries that are already applied. A worker that dies between its commit and the trim leaves such entries. */
async function trimApplied({ deps: { sql, redis } }: Change, backlogs: PartitionBacklog[]): Promise<void> {
  const waiting = backlogs.filter((backlog) => backlog.waiting > 0)
  if (waiting.length === 0) return
  const positions = await readPositions(sql)
  for (const { partition } of waiting)
    await trim(redis, partition, positions.get(partition) ?? FIRST_ID, { upTo: FIRST_ID })
}

async function reportWaiting(change: Change, backlogs: PartitionBacklog[]): Promise<void> {
  change.waiting = describeWaiting(backlogs)
  if (change.waiting === '' || performance.now() - change.reportedAt < REPORT_EVERY_MS) return
  change.reportedAt = performance.now()
  const attended = await readAttended(change.deps.sql)
  const unattended = backlogs.filter(({ partition, waiting }) => waiting > 0 && !attended.has(partition))
  const hint = unattended.length > 0 ? `; no worker has ${unattended.map(({ partition }) => partition).join(', ')}` : ''
  change.deps.report(`Waiting to be applied: ${change.waiting}${hint}`)
}

const partitionsOf = ({ from }: Change, kind: PartitionKind): string[] =>
  allPartitions(from).filter((partition) => kindOf(partition) === kind)

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))
