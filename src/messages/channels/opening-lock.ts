/**
 * The advisory lock of a sender. Claims share it while the sender's pause holds their messages, and a change that
 * opens the sender takes it exclusively. A lock of the row does not suffice, for the reason in
 * src/campaigns/claims-lock.ts.
 */
import type { Queryable } from '../../stores/postgres.ts'
import { DEFAULT_SENDER, type SenderKey } from './channels.ts'

/** SQL over the sender `c`: the key of the lock. That of `default` names the channel alone, as channels had one sender once. */
export const OPENING_LOCK = `hashtextextended('channel ' || c.business_id || ' ' || c.channel
  || case when c.key = '${DEFAULT_SENDER}' then '' else ' ' || c.key end, 0)`

/**
 * Locks until the end of the transaction, which must not have locked anything of the sender before. Waits for the
 * claims that have begun.
 */
export async function lockOpening(tx: Queryable, { businessId, channel, sender }: SenderKey): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(${tx.unsafe(OPENING_LOCK)})
    from (select ${businessId}::uuid as business_id, ${channel}::text as channel, ${sender}::text as key) c`
}
