/** Deletes suppressions: their addresses get messages again, unless another suppression is left. */
import { type Actor, recordContactAudit } from '../../audit/audit.ts'
import type { AddressChannel, ChannelAddress, SuppressionReason } from '../../rules/messages/suppression.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { MessageKey } from '../message-key.ts'
import { listOf } from './find-suppressed.ts'
import { hashesOf } from './hash-address.ts'
import { lockCount } from './suppress.ts'

/** Per call. */
export const MAX_LIFTED = 10_000

export interface LiftedBy {
  businessId: string
  actor: Actor
}

/** Returns false when the business has no suppression with this id. */
export async function liftSuppression(
  sql: Sql,
  { businessId, actor }: LiftedBy,
  suppressionId: string,
): Promise<boolean> {
  return await inTransaction(sql, async (tx) => {
    await lockCount(tx, businessId)
    const { count } = await tx`delete from suppressions where business_id = ${businessId} and id = ${suppressionId}`
    if (count === 0) return false
    await discount(tx, businessId, count)
    const entry = { businessId, actor, action: 'suppression.lift', target: suppressionId }
    await recordContactAudit(tx, entry)
    return true
  })
}

/** `from` and `to` are in epoch milliseconds, both included; null omits a condition. */
export interface LiftedOnes {
  reason: SuppressionReason
  channel: AddressChannel | null
  from: number | null
  to: number | null
}

/** Deletes the oldest ones first, at most `MAX_LIFTED`. `hasMore`: some are left. */
export async function liftSuppressions(
  sql: Sql,
  { businessId, actor }: LiftedBy,
  ones: LiftedOnes,
): Promise<{ lifted: number; hasMore: boolean }> {
  const { reason, channel, from, to } = ones
  return await inTransaction(sql, async (tx) => {
    await lockCount(tx, businessId)
    const fitting = tx`
      business_id = ${businessId} and reason = ${reason} and (${channel}::text is null or channel = ${channel})
        and (${from}::bigint is null or suppressed_at >= ${from}) and (${to}::bigint is null or suppressed_at <= ${to})`
    const [next] = await tx<{ id: string }[]>`
      select id from suppressions where ${fitting} order by id offset ${MAX_LIFTED} limit 1`
    const hasMore = next !== undefined
    const { count: lifted } = await tx`
      delete from suppressions where ${fitting} ${hasMore ? tx`and id < ${next.id}` : tx``}`
    if (lifted === 0) return { lifted, hasMore }
    await discount(tx, businessId, lifted)
    const details = { lifted, reason, ...(channel !== null && { channel }) }
    await recordContactAudit(tx, { businessId, actor, action: 'suppression.lift', target: null, details })
    return { lifted, hasMore }
  })
}

/** START lifts the suppression of STOP, and nothing else. Call it in a transaction. */
export async function liftStop(
  tx: Queryable,
  key: MessageKey,
  { businessId, ...address }: ChannelAddress & { businessId: string },
): Promise<boolean> {
  await lockCount(tx, businessId)
  const hashes = listOf(hashesOf(key, businessId, address))
  const { count } = await tx`
    delete from suppressions
    where address_hash in (select decode(hash, 'hex') from unnest(${hashes}::text::text[]) as own (hash))
      and reason = 'stop' and business_id::text = ${businessId}`
  await discount(tx, businessId, count)
  return count > 0
}

async function discount(tx: Queryable, businessId: string, lifted: number): Promise<void> {
  await tx`update suppression_counts set many = many - ${lifted} where business_id = ${businessId}`
}
