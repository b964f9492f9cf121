import type { Logger } from '../../../log.ts'
import type { SenderKey } from '../../../messages/channels/channels.ts'
import { type RefusedSender, logPaused, pauseRefused } from '../../../messages/channels/pause-channel.ts'
import type { Queryable, Sql } from '../../../stores/postgres.ts'
import { inTransaction } from '../../../stores/transaction.ts'
import { type AttemptRecord, recordAttempts } from '../settle/record-attempts.ts'

/**
 * Does the same as `recordAttempts`, and pauses senders with too many refusals because of the sender, in the same
 * transaction.
 */
export async function recordTogether(
  { sql, log }: { sql: Sql; log: Logger },
  records: readonly AttemptRecord[],
): Promise<boolean[]> {
  if (!records.some(({ judged }) => judged === 'refused')) return recordAttempts(sql, records)
  const { recorded, paused } = await inTransaction(sql, async (tx) => {
    const done = await recordAttempts(tx, records)
    return { recorded: done, paused: await pauseIfRefused(tx, records) }
  })
  logPaused(log, paused)
  return recorded
}

/** Call it in the transaction that has recorded the attempts. Returns the senders that were paused. */
export async function pauseIfRefused(
  tx: Queryable,
  records: readonly Pick<AttemptRecord, 'businessId' | 'channel' | 'sender' | 'judged' | 'at'>[],
): Promise<SenderKey[]> {
  const senders = new Map<string, RefusedSender>()
  for (const { businessId, channel, sender, judged, at } of records) {
    if (judged !== 'refused') continue
    const name = `${businessId} ${channel} ${sender}`
    senders.set(name, { businessId, channel, sender, at: Math.max(at, senders.get(name)?.at ?? at) })
  }
  return pauseRefused(tx, [...senders.values()])
}
