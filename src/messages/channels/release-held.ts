/** Makes the messages that a sender holds due again: those that wait for its limits, and for the end of a pause. */
import { sleep } from '../../async/sleep.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import { DEFAULT_SENDER, type SenderKey } from './channels.ts'

export interface WakeSizes {
  /** Number of messages in one transaction. */
  set: number
  /**
   * Number of messages held by limits that one call releases, in whole sets. Later ones keep the places that the
   * previous limits gave them.
   */
  mostLimited: number
}
const SIZES: WakeSizes = { set: 10_000, mostLimited: 100_000 }
/** Milliseconds between two sets: enough that they stay in order, and few are due at once. */
const A_MS = 1000
/** How long to wait for what others have locked. After that it becomes due on its own, within an hour. */
const LOCKED = { lookMs: 50, looks: 100 }

/**
 * Call it once the sender is open, or its limits have changed, and that is committed: claims that have found it paused
 * have ended then (opening-lock.ts). Everything that a pause holds becomes due, set by set, in its order, and the first
 * of what limits hold; also what waits for senders whose fallback it is. Repeating it is harmless, and continues after a crash. `now`: epoch milliseconds.
 */
export async function releaseHeld(sql: Sql, key: SenderKey, now: number, sizes = SIZES): Promise<void> {
  await sql`
    update sender_use set queue_second = 0, queue_taken = 0, late_second = 0, late_taken = 0,
      call_second = 0, call_taken = 0
    where business_id = ${key.businessId} and channel = ${key.channel} and sender = ${key.sender}`
  await releaseCalls(sql, key, now)
  let woken = 0
  let looks = 0
  for (let sets = 0; ; sets += 1) {
    const at = now + Math.ceil((sets * sizes.set) / A_MS)
    const asked = { at, withLimited: woken < sizes.mostLimited }
    const count = await inTransaction(sql, (tx) => wakeSet(tx, heldIn(tx, key, asked), { at, ...sizes }))
    woken += count
    if (count > 0) continue
    const isLocked = await inTransaction(sql, async (tx) => {
      await joinByIndexes(tx)
      const [held] = await tx`select from (${heldIn(tx, key, asked)}) held limit 1`
      return held !== undefined
    })
    if (!isLocked || looks === LOCKED.looks) return
    looks += 1
    await sleep(LOCKED.lookMs)
  }
}

/** Messages of calls are few, and go first. */
async function releaseCalls(sql: Sql, { businessId, channel, sender }: SenderKey, now: number): Promise<void> {
  await sql`
    update due_calls set due_at = ${now}
    where business_id = ${businessId} and held_by->>'channel' = ${channel} and due_at > ${now}
      and (coalesce(held_by->>'sender', ${DEFAULT_SENDER}) = ${sender} or held_by->>'insteadOf' = ${sender})`
}

/**
 * The messages that are due after `at` (epoch milliseconds): those that were released before are due earlier. Each of
 * the two kinds has its own index.
 */
const heldIn = (
  sql: Queryable,
  { businessId, channel, sender }: SenderKey,
  { at, withLimited }: { at: number; withLimited: boolean },
) => sql`
  select business_id, enrolment_id, due_at from due_steps
  where business_id = ${businessId} and held_by->>'channel' = ${channel}
    and ${withLimited ? sql`held_by->>'type' in ('per_second', 'daily_budget', 'channel_paused')` : sql`held_by->>'type' = 'channel_paused'`}
    and not held and due_at > ${at}
    and (coalesce(held_by->>'sender', ${DEFAULT_SENDER}) = ${sender} or held_by->>'insteadOf' = ${sender})
    -- Paused again meanwhile: what it holds is held for this pause.
    and not exists (
      select from senders c
      where c.business_id = ${businessId} and c.channel = ${channel} and c.key = ${sender} and c.paused_at is not null
    )`

/** Messages that others are moving are left out. Returns the number that is due from `at` on. */
async function wakeSet(
  sql: Queryable,
  held: ReturnType<typeof heldIn>,
  { at, set }: { at: number; set: number },
): Promise<number> {
  await joinByIndexes(sql)
  const { count } = await sql`
    with waiting as materialized (${held} order by due_at, enrolment_id limit ${set} for update skip locked),
    placed as (
      select business_id, enrolment_id, ${at} + row_number() over (order by due_at, enrolment_id) / ${A_MS} as at from waiting
    )
    update due_steps d set due_at = least(placed.at, d.due_at) from placed
    where d.business_id = placed.business_id and d.enrolment_id = placed.enrolment_id`
  return count
}

/** For this transaction only. The table's size varies greatly, and other plans would read all of it. */
async function joinByIndexes(tx: Queryable): Promise<void> {
  await tx`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`
}
