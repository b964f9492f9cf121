/**
 * The advisory lock of a channel. Claims share it while the channel's pause holds their messages, and a change that
 * opens the channel takes it exclusively. A lock of the row does not suffice, for the reason in
 * src/campaigns/claims-lock.ts.
 */
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelKey } from './channels.ts'

/** SQL over the channel `c`: the key of the lock. */
export const OPENING_LOCK = `hashtextextended('channel ' || c.business_id || ' ' || c.channel, 0)`

/**
 * Locks until the end of the transaction, which must not have locked anything of the channel before. Waits for the
 * claims that have begun.
 */
export async function lockOpening(tx: Queryable, { businessId, channel }: ChannelKey): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(${tx.unsafe(OPENING_LOCK)})
    from (select ${businessId}::uuid as business_id, ${channel}::text as channel) c`
}
