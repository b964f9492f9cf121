/**
 * The advisory lock of a channel that claims share while its pause holds their messages, and that a change that opens the channel takes
 * alone. A lock of its row does not suffice, for the reason that src/campaigns/claims-lock.ts gives.
 */
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelKey } from './channels.ts'

/** SQL, of the channel `c`: the key of the lock. */
export const OPENING_LOCK = `hashtextextended('channel ' || c.business_id || ' ' || c.channel, 0)`

/** Until the end of the transaction, which has locked nothing of the channel before. Waits for the claims that have begun. */
export async function lockOpening(tx: Queryable, { businessId, channel }: ChannelKey): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(${tx.unsafe(OPENING_LOCK)})
    from (select ${businessId}::uuid as business_id, ${channel}::text as channel) c`
}
