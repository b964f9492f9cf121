/**
 * Changes the number of partitions of a running system. A business then travels in another partition, so everything in the
 * old ones has to be applied first: its kind is closed (in Postgres, which front doors read when they connect, then by fences in
 * Redis, which refuse those that have not read it), drained by the workers, and opened with the new number. Backfill goes
 * first, since it can take a while; then web, which waits for ClickHouse, while browsers keep what is refused; live alone
 * is closed for the moment in which its last requests are applied.
 *
 * Nothing depends on this process staying alive or awake: each step is taken from the version that it follows, a change
 * that is not renewed ends by itself, and whatever is left in Redis is right to be there.
 */
import { backoffMs } from '../async/backoff.ts'
import type { Sql } from '../stores/postgres.ts'
import type { Redis } from '../stores/redis.ts'
import { type PartitionBacklog, raiseFences } from './fence.ts'
import { readHolders } from './lease.ts'
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
import { sleep } from '../async/sleep.ts'
import { readPositions } from './positions.ts'
import { BEGINNING } from './stream-id.ts'
import { trim } from './trim.ts'

export interface ChangeDeps {
  sql: Sql
  /** In the role `command`. */
  redis: Redis
  /** Receives progress messages for the operator. */
  report: (text: string) => void
}
export interface ChangeOptions {
  to: number
  /** For how long live may be closed at a time; then it is let through, and tried again later. */
  livePauseMs: number
  signal: AbortSignal
}

export type Changed =
  | { kind: 'changed'; previous: number }
  | { kind: 'unchanged' }
  /** Another command is changing the number. */
  | { kind: 'busy'; to: number }
  /** No worker has these partitions, and requests wait in them. Nothing was closed. */
  | { kind: 'unattended'; waiting: string }
  /** The signal came first: everything is as it was. `waiting` is what had not been applied. */
  | { kind: 'given_up'; waiting: string }

const POLL_MS = 50
const REPORT_EVERY_MS = 2000
/** A partition may be between two workers for as long as a lease of one that died. */
const ATTENDED_WITHIN_MS = 6000
/** Live is not closed before workers are this near to what comes in, as a share of the pause. */
const NEAR = 1 / 4
/** Nor web: its events gather, so that a partition which keeps up has entries of this age. */
const GATHERED_MS = 1000
const AGAIN = { firstMs: 1000, maxMs: 30_000 }

/** Another process ended the change, or it was not renewed in time. */
class ChangeLostError extends Error {
  override name = 'ChangeLostError'
}

/** A change under way. */
interface Change extends ChangeOptions {
  deps: ChangeDeps
  from: number
  version: number
  waiting: string
  reportedAt: number
}

/** Rejects when a store cannot be reached at the start; once begun, trouble is waited out until the signal comes. */
export async function changePartitions(deps: ChangeDeps, options: ChangeOptions): Promise<Changed> {
  const { to, signal } = options
  const { partitions: previous } = await readPartitionMap(deps.sql)
  let waiting = ''
  let hasBegun = false
  while (!signal.aborted) {
    try {
      const partitionMap = await untilNoOther(deps, signal)
      if (partitionMap.change) return { kind: 'busy', to: partitionMap.change.to }
      if (partitionMap.partitions === to) return previous === to ? { kind: 'unchanged' } : { kind: 'changed', previous }
      waiting = await untilAttended(deps, partitionMap.partitions, signal)
      if (waiting !== '' && !signal.aborted) return { kind: 'unattended', waiting }
      const version = await beginChange(deps.sql, partitionMap.version, to)
      if (version === undefined) continue
      hasBegun = true
      const change = { ...options, deps, from: partitionMap.partitions, version, waiting, reportedAt: -Infinity }
      if (await carryOut(change)) return { kind: 'changed', previous }
      waiting = change.waiting
    } catch (error) {
      if (!hasBegun) throw error
      deps.report(`Beginning again: ${describe(error)}`)
      await sleep(10 * POLL_MS, signal)
    }
  }
  // The reply to the switch may be what was lost.
  const { partitions } = await readPartitionMap(deps.sql)
  return partitions === to && previous !== to ? { kind: 'changed', previous } : { kind: 'given_up', waiting }
}

/** A change that is renewed has its command; one that is not ends by itself, and is waited for. */
async function untilNoOther({ sql, report }: ChangeDeps, signal: AbortSignal): Promise<PartitionMap> {
  let partitionMap = await readPartitionMap(sql)
  const { change } = partitionMap
  if (change) report(`A change to ${change.to} is under way; it ends within seconds if its command has died`)
  while (partitionMap.change && partitionMap.change.until.getTime() === change?.until.getTime() && !signal.aborted) {
    await sleep(4 * POLL_MS, signal)
    partitionMap = await readPartitionMap(sql)
  }
  return partitionMap
}

/** Resolves with what waits and nobody works on; '' when there is no such thing. */
async function untilAttended(
  { sql, redis, report }: ChangeDeps,
  partitions: number,
  signal: AbortSignal,
): Promise<string> {
  const over = performance.now() + ATTENDED_WITHIN_MS
  for (let tries = 0; ; tries += 1) {
    const attended = await readAttended(sql)
    const backlogs = await raiseFences(redis, allPartitions(partitions), 0)
    const waiting = describeWaiting(backlogs.filter(({ partition }) => !attended.has(partition)))
    if (waiting === '' || performance.now() > over || signal.aborted) return waiting
    if (tries === 0) report(`No worker has these partitions, and requests wait in them: ${waiting}`)
    await sleep(4 * POLL_MS, signal)
  }
}

/** True once it is done; false when the signal came first. Whatever happens, nothing stays closed. */
async function carryOut(change: Change): Promise<boolean> {
  const { deps, signal } = change
  let isDone = false
  try {
    deps.report('Batches are refused until the requests that wait are applied')
    await drain(change, partitionsOf(change, 'backfill'), signal)
    await untilNear(change, 'web', GATHERED_MS)
    if (!signal.aborted) await close(change, ['backfill', 'web'])
    await drain(change, partitionsOf(change, 'web'), signal)
    for (let tries = 0; !signal.aborted && !isDone; tries += 1) {
      await untilNear(change, 'live', change.livePauseMs * NEAR)
      if (!signal.aborted) isDone = await switchOver(change)
      if (!isDone) await rest(change, backoffMs(tries + 1, AGAIN))
    }
    return isDone
  } finally {
    if (!isDone) await undo(change)
  }
}

async function undo({ deps, version }: Change): Promise<void> {
  await cancelChange(deps.sql, version).catch((error: unknown) => {
    deps.report(`The change could not be undone; it ends by itself within seconds: ${describe(error)}`)
  })
}

/** Closes all, and everything opens again with the new number; or with the old one, false, when that takes too long. */
async function switchOver(change: Change): Promise<boolean> {
  const { deps, from, signal, livePauseMs } = change
  await close(change, [...PARTITION_KINDS])
  const patience = AbortSignal.any([signal, AbortSignal.timeout(livePauseMs)])
  const backlogs = await drain(change, allPartitions(from), patience)
  if (!backlogs) {
    await close(change, ['backfill', 'web'])
    if (!signal.aborted) deps.report(`Live requests took longer than ${livePauseMs} ms and are let through again`)
    return false
  }
  const lastIds = new Map(backlogs.map(({ partition, lastId }) => [partition, lastId]))
  const passed = await switchPartitions(deps.sql, change.version, lastIds)
  if (passed === undefined) throw new ChangeLostError('the change was ended meanwhile')
  if (passed > 0)
    deps.report(`${passed} partitions had lost entries before they were applied: that was not of this change`)
  return true
}

async function close(change: Change, kinds: PartitionKind[]): Promise<void> {
  const version = await closeKinds(change.deps.sql, change.version, kinds)
  if (version === undefined) throw new ChangeLostError('the change was ended meanwhile')
  change.version = version
}

/** Resolves with the empty partitions; undefined when the signal came first. */
async function drain(
  change: Change,
  partitions: string[],
  signal: AbortSignal,
): Promise<PartitionBacklog[] | undefined> {
  while (!signal.aborted) {
    const backlogs = await look(change, partitions, change.version)
    if (backlogs?.every(({ waiting }) => waiting === 0)) return backlogs
    await sleep(POLL_MS, signal)
  }
  return undefined
}

async function untilNear(change: Change, kind: PartitionKind, nearMs: number): Promise<void> {
  while (!change.signal.aborted) {
    const backlogs = await look(change, partitionsOf(change, kind), 0)
    if (backlogs?.every(({ ageMs }) => ageMs < nearMs)) return
    await sleep(2 * POLL_MS, change.signal)
  }
}

async function rest(change: Change, ms: number): Promise<void> {
  const over = performance.now() + ms
  while (performance.now() < over && !change.signal.aborted) {
    await look(change, [], 0)
    await sleep(10 * POLL_MS, change.signal)
  }
}

/** Keeps the change, and sees how much is left; undefined when a store did not answer. Throws ChangeLostError. */
async function look(change: Change, partitions: string[], fence: number): Promise<PartitionBacklog[] | undefined> {
  const { sql, redis, report } = change.deps
  try {
    if (!(await renewChange(sql, change.version))) throw new ChangeLostError('it had not been renewed in time')
    const backlogs = await raiseFences(redis, partitions, fence)
    await reportWaiting(change, backlogs)
    await tidy(change, backlogs)
    return backlogs
  } catch (error) {
    if (error instanceof ChangeLostError) throw error
    report(`Waiting for a store: ${describe(error)}`)
    return undefined
  }
}

/** A worker that died after its commit has left entries that need not be applied any more. */
async function tidy({ deps: { sql, redis } }: Change, backlogs: PartitionBacklog[]): Promise<void> {
  const waiting = backlogs.filter((backlog) => backlog.waiting > 0)
  if (waiting.length === 0) return
  const positions = await readPositions(sql)
  for (const { partition } of waiting) await trim(redis, partition, positions.get(partition) ?? BEGINNING)
}

async function reportWaiting(change: Change, backlogs: PartitionBacklog[]): Promise<void> {
  change.waiting = describeWaiting(backlogs)
  if (change.waiting === '' || performance.now() - change.reportedAt < REPORT_EVERY_MS) return
  change.reportedAt = performance.now()
  const attended = await readAttended(change.deps.sql)
  const alone = backlogs.filter(({ partition, waiting }) => waiting > 0 && !attended.has(partition))
  const hint = alone.length > 0 ? `; nobody works on ${alone.map(({ partition }) => partition).join(', ')}` : ''
  change.deps.report(`Waiting to be applied: ${change.waiting}${hint}`)
}

async function readAttended(sql: Sql): Promise<Set<string>> {
  const holders = await readHolders(sql)
  return new Set(holders.filter(({ owner }) => owner !== null).map(({ partition }) => partition))
}

const partitionsOf = ({ from }: Change, kind: PartitionKind): string[] =>
  allPartitions(from).filter((partition) => kindOf(partition) === kind)

/** Entries by partition; '' when none waits. */
const describeWaiting = (backlogs: PartitionBacklog[]): string =>
  backlogs
    .filter(({ waiting }) => waiting > 0)
    .map(({ partition, waiting }) => `${waiting} in ${partition}`)
    .join(', ')

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))
