import type { Logger } from '../../../log.ts'
import type { ChannelKey } from '../../../messages/channels/channels.ts'
import { type RefusedChannel, logPaused, pauseRefused } from '../../../messages/channels/pause-channel.ts'
import type { Queryable, Sql } from '../../../stores/postgres.ts'
import { inTransaction } from '../../../stores/transaction.ts'
import { type AttemptRecord, recordAttempts } from '../settle/record-attempts.ts'

/**
 * Does the same as `recordAttempts`, and pauses channels with too many refusals because of the sender, in the same
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

/** Call it in the transaction that has recorded the attempts. Returns the channels that were paused. */
export async function pauseIfRefused(tx: Queryable, records: readonly AttemptRecord[]): Promise<ChannelKey[]> {
  const channels = new Map<string, RefusedChannel>()
  for (const { businessId, channel, judged, at } of records) {
    if (judged !== 'refused') continue
    const name = `${businessId} ${channel}`
    channels.set(name, { businessId, channel, at: Math.max(at, channels.get(name)?.at ?? at) })
  }
  return pauseRefused(tx, [...channels.values()])
}
