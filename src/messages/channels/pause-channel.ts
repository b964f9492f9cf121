/** Pauses the senders with too many refusals because of them, and resumes them. */
import { uuidv7 } from 'uuidv7'
import { type Actor, recordAudit } from '../../audit/audit.ts'
import type { Logger } from '../../log.ts'
import {
  type OutcomeCounts,
  REFUSAL_WINDOW_MS,
  allOf,
  areTooMany,
  countedFrom,
} from '../../rules/messages/too-many-refusals.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { afterCommit, inTransaction } from '../../stores/transaction.ts'
import { DEFAULT_SENDER, type SenderKey } from './channels.ts'
import { DEFAULT_PROVIDER } from './providers.ts'
import { lockOpening } from './opening-lock.ts'
import { releaseHeld } from './release-held.ts'
import { auditOf } from './sender-audit.ts'

/** The actor of what Sluice decides itself, in the audit log. */
export const SLUICE: Actor = { kind: 'command', id: 'sluice', name: 'Sluice' }

/** `at`: instant of the latest refusal, in epoch milliseconds. */
export type RefusedSender = SenderKey & { at: number }

interface OpenSender extends SenderKey {
  at: number
  openedAt: number
}

/**
 * Pauses those of these senders that had too many refusals lately. Call it last in the transaction that has counted
 * the refusals: it waits for others who count refusals of the same senders, so that one of them sees the refusals of
 * all.
 * @returns the senders that were paused
 */
export async function pauseRefused(tx: Queryable, refused: readonly RefusedSender[]): Promise<SenderKey[]> {
  if (refused.length === 0) return []
  const open = await lockOpen(tx, refused)
  const counts = open.length === 0 ? [] : await countOutcomes(tx, open)
  const tooMany = open.flatMap((one, index) => {
    const counted = counts[index] ?? { messages: 0, refused: 0 }
    return areTooMany(counted) ? [{ ...one, counted }] : []
  })
  for (const { at, counted, openedAt: _, ...key } of tooMany) {
    const reason = `Of ${allOf(counted)} messages in 10 minutes, ${counted.refused} were refused because of the sender`
    await tx`
      update senders set paused_at = ${at}, pause_reason = ${reason}
      where business_id = ${key.businessId} and channel = ${key.channel} and key = ${key.sender}`
    await recordAudit(tx, { ...auditOf(key, 'pause'), actor: SLUICE, details: { ...counted } })
  }
  return tooMany.map(({ businessId, channel, sender }) => ({ businessId, channel, sender }))
}

/**
 * Counts a refusal that a provider has reported for a message that was counted before. Call it in the transaction that
 * records the report, before it pauses senders.
 */
export async function countReported(tx: Queryable, { businessId, channel, sender, at }: RefusedSender): Promise<void> {
  await tx`
    insert into channel_outcomes (business_id, channel, sender, at, messages, refused)
    values (${businessId}, ${channel}, ${sender}, ${at}, 0, 1)`
}

/** Locks senders in their order, so that two transactions with the same senders never wait for each other. */
async function lockOpen(tx: Queryable, refused: readonly RefusedSender[]): Promise<OpenSender[]> {
  const asked = refused.map(({ businessId, channel, sender, at }) => ({ business_id: businessId, channel, sender, at }))
  return tx<OpenSender[]>`
    select c.business_id as "businessId", c.channel, c.key as sender, x.at, c.opened_at as "openedAt"
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (business_id uuid, channel text, sender text, at bigint)
    join senders c on c.business_id = x.business_id and c.channel = x.channel and c.key = x.sender
    where c.paused_at is null and c.deleted_at is null
    order by c.business_id, c.channel, c.key for no key update of c`
}

/** In the order of the senders. */
async function countOutcomes(tx: Queryable, open: readonly OpenSender[]): Promise<OutcomeCounts[]> {
  const asked = open.map(({ businessId, channel, sender, at, openedAt }, place) => ({
    place,
    business_id: businessId,
    channel,
    sender,
    since: countedFrom(at, openedAt),
  }))
  return tx<OutcomeCounts[]>`
    select counted.messages, counted.refused
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (place integer, business_id uuid, channel text, sender text, since bigint)
    cross join lateral (
      select coalesce(sum(o.messages), 0)::int as messages, coalesce(sum(o.refused), 0)::int as refused
      from channel_outcomes o
      where o.business_id = x.business_id and o.channel = x.channel and o.sender = x.sender and o.at >= x.since
    ) counted
    order by x.place`
}

/** Call it once they are committed. */
export function logPaused(log: Logger, paused: readonly SenderKey[]): void {
  for (const { businessId: business, channel, sender } of paused)
    log.error(
      { business, channel, sender },
      'a channel was paused: too many of its messages are refused because of the sender',
    )
}

/**
 * Resumes a sender. Everything that waits for it is due at once. Returns false when it is neither paused nor
 * unreachable. `now`: epoch milliseconds.
 */
export async function resumeSender(
  sql: Sql,
  { actor, ...key }: SenderKey & { actor: Actor },
  now: number,
): Promise<boolean> {
  const { businessId, channel, sender } = key
  const isResumed = await inTransaction(sql, async (tx) => {
    await lockOpening(tx, key)
    const { count } = await tx`
      update senders set paused_at = null, pause_reason = null, unreachable_at = null, opened_at = ${now}
      where business_id = ${businessId} and channel = ${channel} and key = ${sender} and deleted_at is null
        and (paused_at is not null or unreachable_at is not null)`
    if (count === 0) return false
    await recordAudit(tx, { ...auditOf(key, 'resume'), actor })
    return true
  })
  await afterCommit(() => releaseHeld(sql, key, now))
  return isResumed
}

/** Pauses a sender until it is resumed. Returns false when it is paused already. `now`: epoch milliseconds. */
export async function pauseSender(
  sql: Sql,
  { actor, ...key }: SenderKey & { actor: Actor },
  now: number,
): Promise<boolean> {
  const { businessId, channel, sender } = key
  return await inTransaction(sql, async (tx) => {
    if (sender === DEFAULT_SENDER)
      // A channel that was never set up.
      await tx`
        insert into senders (business_id, channel, key, provider, settings, revision)
        values (${businessId}, ${channel}, ${sender}, ${DEFAULT_PROVIDER.name}, '{}', ${uuidv7()}) on conflict do nothing`
    const { count } = await tx`
      update senders set paused_at = ${now}, pause_reason = ${`Paused by ${actor.name}`}
      where business_id = ${businessId} and channel = ${channel} and key = ${sender} and deleted_at is null and paused_at is null`
    if (count === 0) return false
    await recordAudit(tx, { ...auditOf(key, 'pause'), actor })
    return true
  })
}

const KEPT_MS = 2 * REFUSAL_WINDOW_MS
const CHUNK_ROWS = 10_000

/** Deletes refusals that no longer count, by the clock of any worker. */
export async function forgetOutcomes(sql: Queryable, now: number): Promise<void> {
  await sql`
    delete from channel_outcomes where ctid = any (array(
      select ctid from channel_outcomes where at < ${now - KEPT_MS} order by at limit ${CHUNK_ROWS} for update skip locked))`
}
