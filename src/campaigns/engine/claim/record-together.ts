import type { Logger } from '../../../log.ts'
import type { SenderKey } from '../../../messages/channels/channels.ts'
import { logPaused, pauseRefused } from '../../../messages/channels/pause-channel.ts'
import {
  type TriedSender,
  lockRows,
  logUnreachable,
  markReached,
  markUnreachable,
} from '../../../messages/channels/reach-sender.ts'
import { releaseHeld } from '../../../messages/channels/release-held.ts'
import type { Queryable, Sql } from '../../../stores/postgres.ts'
import { inTransaction } from '../../../stores/transaction.ts'
import { type AttemptRecord, recordAttempts } from '../settle/record-attempts.ts'

/** What an attempt says of its sender. */
export type JudgedAttempt = Pick<
  AttemptRecord,
  'businessId' | 'channel' | 'sender' | 'judged' | 'wasUnreachable' | 'at'
>

/** Senders that have changed. */
interface Judged {
  paused: SenderKey[]
  unreachable: SenderKey[]
  reachable: SenderKey[]
}

/**
 * Does the same as `recordAttempts`, and pauses senders with too many refusals because of them, in the same transaction.
 * It also finds out which senders are unreachable, and which are so no longer.
 */
export async function recordTogether(
  { sql, log }: { sql: Sql; log: Logger },
  records: readonly AttemptRecord[],
): Promise<boolean[]> {
  if (!records.some(saysSomething)) return recordAttempts(sql, records)
  const { recorded, judged } = await inTransaction(sql, async (tx) => {
    const done = await recordAttempts(tx, records)
    return { recorded: done, judged: await judgeSenders(tx, records) }
  })
  reportJudged({ sql, log }, judged, records)
  return recorded
}

/** Call it once they are committed. What waits in the place of a sender that is reachable again becomes due. */
export function reportJudged(
  { sql, log }: { sql: Sql; log: Logger },
  { paused, unreachable, reachable }: Judged,
  records: readonly JudgedAttempt[],
): void {
  logPaused(log, paused)
  logUnreachable(log, unreachable)
  const now = Math.max(...records.map(({ at }) => at))
  for (const key of reachable)
    releaseHeld(sql, key, now).catch((error: unknown) => log.warn({ err: error }, 'held messages were not released'))
}

const saysSomething = ({ judged, wasUnreachable }: JudgedAttempt): boolean =>
  judged === 'refused' || judged === 'unreached' || (wasUnreachable && judged !== null)

/** Call it in the transaction that has recorded the attempts. */
export async function judgeSenders(tx: Queryable, records: readonly JudgedAttempt[]): Promise<Judged> {
  const decisive = records.filter(saysSomething)
  if (decisive.length === 0) return { paused: [], unreachable: [], reachable: [] }
  await lockRows(tx, latestOf(decisive))
  return {
    paused: await pauseRefused(tx, latestOf(decisive.filter(({ judged }) => judged === 'refused'))),
    unreachable: await markUnreachable(tx, latestOf(decisive.filter(({ judged }) => judged === 'unreached'))),
    reachable: await markReached(tx, latestOf(decisive.filter(({ judged }) => judged !== 'unreached'))),
  }
}

/** Each sender once, with the latest instant. */
function latestOf(records: readonly JudgedAttempt[]): TriedSender[] {
  const senders = new Map<string, TriedSender>()
  for (const { businessId, channel, sender, at } of records) {
    const name = `${businessId} ${channel} ${sender}`
    senders.set(name, { businessId, channel, sender, at: Math.max(at, senders.get(name)?.at ?? at) })
  }
  return [...senders.values()]
}
