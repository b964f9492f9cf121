/** Marks senders to which no connection comes about, and ends that when one does. */
import { recordAudit } from '../../audit/audit.ts'
import type { Logger } from '../../log.ts'
import { type TryCounts, isOutOfReach, triesFrom } from '../../rules/messages/reachability.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { SenderKey } from './channels.ts'
import { SLUICE } from './pause-channel.ts'
import { auditOf } from './sender-audit.ts'

/** `at`: instant of the latest try, in epoch milliseconds. */
export type TriedSender = SenderKey & { at: number }

/**
 * Locks the rows of senders in their order, so that two transactions with the same senders never wait for each other.
 * Call it before anything that changes them.
 */
export async function lockRows(tx: Queryable, senders: readonly SenderKey[]): Promise<void> {
  const asked = senders.map(({ businessId, channel, sender }) => ({ business_id: businessId, channel, key: sender }))
  await tx`
    select from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (business_id uuid, channel text, key text)
    join senders c on c.business_id = x.business_id and c.channel = x.channel and c.key = x.key
    order by c.business_id, c.channel, c.key for no key update of c`
}

/**
 * Marks those of these senders to which no connection came about in all recent tries. Call it in the transaction that has
 * counted the tries.
 * @returns the senders that were marked
 */
export async function markUnreachable(tx: Queryable, tried: readonly TriedSender[]): Promise<SenderKey[]> {
  const marked: SenderKey[] = []
  for (const { at, ...key } of tried) {
    const { businessId, channel, sender } = key
    const [open] = await tx<{ openedAt: number }[]>`
      select opened_at as "openedAt" from senders
      where business_id = ${businessId} and channel = ${channel} and key = ${sender} and unreachable_at is null and deleted_at is null`
    if (open === undefined) continue
    const [counts = { unreached: 0, reached: 0 }] = await tx<TryCounts[]>`
      select coalesce(sum(unreached), 0)::int as unreached, coalesce(sum(messages + reached), 0)::int as reached
      from channel_outcomes
      where business_id = ${businessId} and channel = ${channel} and sender = ${sender} and at >= ${triesFrom(at, open.openedAt)}`
    if (!isOutOfReach(counts)) continue
    // A message tries it again a minute later.
    await tx`
      update senders set unreachable_at = ${at}, tried_at = ${at}
      where business_id = ${businessId} and channel = ${channel} and key = ${sender}`
    await recordAudit(tx, { ...auditOf(key, 'unreachable'), actor: SLUICE, details: { tries: counts.unreached } })
    marked.push(key)
  }
  return marked
}

/** A try got through to these senders. Returns those that were unreachable. */
export async function markReached(tx: Queryable, reached: readonly SenderKey[]): Promise<SenderKey[]> {
  const again: SenderKey[] = []
  for (const key of reached) {
    const { count } = await tx`
      update senders set unreachable_at = null
      where business_id = ${key.businessId} and channel = ${key.channel} and key = ${key.sender} and unreachable_at is not null`
    if (count === 0) continue
    await recordAudit(tx, { ...auditOf(key, 'reachable'), actor: SLUICE })
    again.push(key)
  }
  return again
}

/** Call it once they are committed. */
export function logUnreachable(log: Logger, senders: readonly SenderKey[]): void {
  for (const { businessId: business, channel, sender } of senders)
    log.error({ business, channel, sender }, 'a sender is unreachable: no connection comes about')
}
