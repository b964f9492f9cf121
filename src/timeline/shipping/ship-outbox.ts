import { type ShipDeps } from './ship-deps.ts'
import { GROUP_LIMITS, type Group, type GroupLimits, markShipped, nextGroup, setAside } from './groups.ts'
import { insertEvents } from './insert-events.ts'
import { findFaultyLines, isDataFault } from '../../stores/insert-lines.ts'
import type { Lease } from '../lease.ts'
import { rebuildStatistics } from '../resync/rebuild-statistics.ts'
import { sendForgotten } from './send-forgotten.ts'
import { sendSegmentChanges } from './send-segment-changes.ts'
import { sendSnapshots } from './send-snapshots.ts'
import { sendTouches } from './send-touches.ts'
import { sendVisitorLinks } from './send-visitor-links.ts'
import { sendVisitors } from './send-visitors.ts'
import { claimResends } from './claim-resends.ts'

export interface Shipped extends Pick<Group, 'moreWaits'> {
  /** Number of events inserted. */
  events: number
}

/**
 * Ships one group from the outbox to ClickHouse (design, promise 5): first its events and its segment changes, with the
 * group's id as token, then the current state of the contacts and visitors that it touched, then the mark in Postgres.
 * A crash after any step repeats the group, which changes nothing that is already there. Resolves with undefined when
 * nothing waits. Rejects on an error; the group is then the first to be sent again.
 */
export async function shipOutbox(
  deps: ShipDeps,
  lease: Lease,
  signal?: AbortSignal,
  limits: GroupLimits = GROUP_LIMITS,
): Promise<Shipped | undefined> {
  const group = await nextGroup(deps.sql, lease.owner, limits)
  if (!group) return undefined
  // An owner that was paused while it read must not send data that another owner may have shipped, and erased, since
  // then.
  if (!lease.isHeld()) throw new Error('the timeline lease ran out')
  const started = performance.now()
  const events = await sendEvents(deps, group, signal)
  await sendSegmentChanges(deps.clickhouse, group, signal)
  await sendSnapshots(deps, group.id, signal)
  if (group.hasVisitors) await sendAllOfVisitors(deps, group.id, signal)
  if (group.isResent) await rebuildStatistics(deps, group.id, lease)
  await markShipped(deps.sql, group.id)
  deps.metrics?.timelineRows?.inc(events)
  deps.metrics?.timelineInsertSeconds?.observe((performance.now() - started) / 1000)
  return { events, moreWaits: group.moreWaits }
}

/**
 * Ships one group of rows that have to be sent again, when no other group is in progress. Resolves with false when
 * there are none, or not yet.
 */
export async function shipResent(
  deps: ShipDeps,
  lease: Lease,
  signal?: AbortSignal,
  limits: GroupLimits = GROUP_LIMITS,
): Promise<boolean> {
  if (!(await claimResends(deps, lease, limits))) return false
  await shipOutbox(deps, lease, signal, limits)
  return true
}

async function sendAllOfVisitors(deps: ShipDeps, groupId: string, signal?: AbortSignal): Promise<void> {
  await sendVisitors(deps, groupId, signal)
  await sendVisitorLinks(deps, groupId, signal)
  await sendTouches(deps, groupId, signal)
  await sendForgotten(deps, groupId, signal)
}

async function sendEvents(deps: ShipDeps, group: Group, signal?: AbortSignal): Promise<number> {
  if (group.lines.length === 0) return 0
  try {
    await insertEvents(deps.clickhouse, group.lines, group.id, signal)
    return group.lines.length
  } catch (error) {
    if (!isDataFault(error)) throw error
    return await sendReadable(deps, group, error, signal)
  }
}

/** An event that ClickHouse cannot read must not hold up the others. */
async function sendReadable(deps: ShipDeps, group: Group, refusal: unknown, signal?: AbortSignal): Promise<number> {
  const faulty = await findFaultyLines(deps.clickhouse, group.lines, signal)
  // Each line can be read on its own, so the data is not the cause.
  if (faulty.length === 0) throw refusal
  await setAside(deps.sql, group.id, faulty)
  deps.log.error(
    { group: group.id, events: faulty.length },
    'events set aside as dead letters: ClickHouse cannot read them',
  )
  const unreadable = new Set(faulty.map(({ line }) => line))
  const lines = group.lines.filter((line) => !unreadable.has(line))
  if (lines.length > 0) await insertEvents(deps.clickhouse, lines, group.id, signal)
  return lines.length
}
