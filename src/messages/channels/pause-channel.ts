/** Pauses the channels with too many refusals because of the sender, and resumes them. */
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
import type { ChannelKey } from './channels.ts'
import { lockOpening } from './opening-lock.ts'
import { releaseHeld } from './release-held.ts'

/** The actor of a pause in the audit log. */
const SLUICE: Actor = { kind: 'command', id: 'sluice', name: 'Sluice' }

/** `at`: instant of the latest refusal, in epoch milliseconds. */
export type RefusedChannel = ChannelKey & { at: number }

interface OpenChannel extends ChannelKey {
  at: number
  openedAt: number
}

/**
 * Pauses those of these channels that had too many refusals lately. Call it last in the transaction that has counted
 * the refusals: it waits for others who count refusals of the same channels, so that one of them sees the refusals of
 * all.
 * @returns the channels that were paused
 */
export async function pauseRefused(tx: Queryable, refused: readonly RefusedChannel[]): Promise<ChannelKey[]> {
  if (refused.length === 0) return []
  const open = await lockOpen(tx, refused)
  const counts = open.length === 0 ? [] : await countOutcomes(tx, open)
  const tooMany = open.flatMap((one, index) => {
    const counted = counts[index] ?? { messages: 0, refused: 0 }
    return areTooMany(counted) ? [{ ...one, counted }] : []
  })
  for (const { businessId, channel, at, counted } of tooMany) {
    const reason = `Of ${allOf(counted)} messages in 10 minutes, ${counted.refused} were refused because of the sender`
    await tx`
      update channels set paused_at = ${at}, pause_reason = ${reason}
      where business_id = ${businessId} and channel = ${channel}`
    const details = { ...counted }
    await recordAudit(tx, { businessId, actor: SLUICE, action: 'channel.pause', target: channel, details })
  }
  return tooMany.map(({ businessId, channel }) => ({ businessId, channel }))
}

/**
 * Counts a refusal that a provider has reported for a message that was counted before. Call it in the transaction that
 * records the report, before it pauses channels.
 */
export async function countReported(tx: Queryable, { businessId, channel, at }: RefusedChannel): Promise<void> {
  await tx`
    insert into channel_outcomes (business_id, channel, at, messages, refused)
    values (${businessId}, ${channel}, ${at}, 0, 1)`
}

/** Locks channels in their order, so that two transactions with the same channels never wait for each other. */
async function lockOpen(tx: Queryable, refused: readonly RefusedChannel[]): Promise<OpenChannel[]> {
  const asked = refused.map(({ businessId, channel, at }) => ({ business_id: businessId, channel, at }))
  return tx<OpenChannel[]>`
    select c.business_id as "businessId", c.channel, x.at, c.opened_at as "openedAt"
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (business_id uuid, channel text, at bigint)
    join channels c on c.business_id = x.business_id and c.channel = x.channel
    where c.paused_at is null
    order by c.business_id, c.channel for no key update of c`
}

/** In the order of the channels. */
async function countOutcomes(tx: Queryable, open: readonly OpenChannel[]): Promise<OutcomeCounts[]> {
  const asked = open.map(({ businessId, channel, at, openedAt }, place) => ({
    place,
    business_id: businessId,
    channel,
    since: countedFrom(at, openedAt),
  }))
  return tx<OutcomeCounts[]>`
    select counted.messages, counted.refused
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (place integer, business_id uuid, channel text, since bigint)
    cross join lateral (
      select coalesce(sum(o.messages), 0)::int as messages, coalesce(sum(o.refused), 0)::int as refused
      from channel_outcomes o
      where o.business_id = x.business_id and o.channel = x.channel and o.at >= x.since
    ) counted
    order by x.place`
}

/** Call it once they are committed. */
export function logPaused(log: Logger, paused: readonly ChannelKey[]): void {
  for (const { businessId: business, channel } of paused)
    log.error({ business, channel }, 'a channel was paused: too many of its messages are refused because of the sender')
}

/**
 * Resumes a channel. Everything that waits for it is due at once. Returns false when it is not paused. `now`: epoch
 * milliseconds.
 */
export async function resumeChannel(
  sql: Sql,
  { actor, ...key }: ChannelKey & { actor: Actor },
  now: number,
): Promise<boolean> {
  const { businessId, channel } = key
  const isResumed = await inTransaction(sql, async (tx) => {
    await lockOpening(tx, key)
    const { count } = await tx`
      update channels set paused_at = null, pause_reason = null, opened_at = ${now}
      where business_id = ${businessId} and channel = ${channel} and paused_at is not null`
    if (count === 0) return false
    await recordAudit(tx, { businessId, actor, action: 'channel.resume', target: channel })
    return true
  })
  await afterCommit(() => releaseHeld(sql, key, now))
  return isResumed
}

const KEPT_MS = 2 * REFUSAL_WINDOW_MS
const CHUNK_ROWS = 10_000

/** Deletes refusals that no longer count, by the clock of any worker. */
export async function forgetOutcomes(sql: Queryable, now: number): Promise<void> {
  await sql`
    delete from channel_outcomes where ctid = any (array(
      select ctid from channel_outcomes where at < ${now - KEPT_MS} order by at limit ${CHUNK_ROWS} for update skip locked))`
}
