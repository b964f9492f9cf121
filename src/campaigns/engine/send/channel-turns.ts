/** Turns of senders with a limit, for a claim or for the test of a campaign. A paused sender gives no turns. */
import type { HeldBy } from '../../../rules/campaigns/checked-send.ts'
import { type ChannelLimits, type ChannelUse, UNUSED, takeTurn } from '../../../rules/campaigns/channel-limits.ts'
import { DEFAULT_SENDER, type SenderKey } from '../../../messages/channels/channels.ts'
import { OPENING_LOCK } from '../../../messages/channels/opening-lock.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import { type FoundSender, connectionOf } from './find-senders.ts'

/** The reason for a delay, and its end in epoch milliseconds. */
export interface Held {
  until: number
  heldBy: HeldBy
}

export interface AskedTurn {
  /** See `connectionOf`. */
  connection: SenderKey
  /** The connection that waits in its place: its end of a pause ends the delay, too. */
  insteadOf?: SenderKey | undefined
  /** True when the message had a place in the queue, and its turn has come. */
  isQueued: boolean
  isMarketing: boolean
  /** Of a call: it goes before all others. */
  isCall?: boolean
  expiresAt?: number
  now: number
}

/** Milliseconds until messages that wait for a paused sender are checked again. A resume makes them due earlier. */
export const PAUSED_LOOK_MS = 3_600_000
/** The same for a sender that is being opened: whether it was opened is known soon. */
const OPENING_LOOK_MS = 1000

export interface SenderTurns {
  isPaused(connection: SenderKey): boolean
  /** Null: the message may be sent. */
  take(asked: AskedTurn): Held | null
  /** Writes the turns that were taken. */
  store(): Promise<void>
}

interface LimitedSender extends SenderKey {
  limits: ChannelLimits
  zone: string
  use: ChannelUse
  isChanged: boolean
}

/**
 * Locks the counters of the connections until the end of the transaction, so that claims of other workers for the same
 * sender wait. The rows are locked in order, and after everything else, so that no claim waits while it holds them.
 */
export async function openTurns(tx: Queryable, senders: readonly FoundSender[]): Promise<SenderTurns> {
  const found = new Map(senders.map((one) => [nameOf(connectionOf(one)), one]))
  const all = [...found.values()]
  const withLimits = all.filter(({ perSecond, dailyBudget }) => perSecond !== null || dailyBudget !== null)
  const uses =
    withLimits.length === 0 ? new Map<string, ChannelUse>() : await lockUses(tx, withLimits.map(connectionOf))
  const limited = new Map<string, LimitedSender>(withLimits.map((one) => limitedBy(one, uses)))
  const paused = await lockPaused(tx, all.filter(({ isPaused }) => isPaused).map(connectionOf))
  return {
    isPaused: (connection) => paused.has(nameOf(connection)),
    take({ connection, insteadOf, now, ...asked }) {
      const lookMs = paused.get(nameOf(connection))
      if (lookMs !== undefined)
        return { until: now + lookMs, heldBy: { type: 'channel_paused', ...holding(connection, insteadOf) } }
      const one = limited.get(nameOf(connection))
      if (one === undefined) return null
      const { turn, use } = takeTurn(one.use, one.limits, { ...asked, now, zone: one.zone })
      Object.assign(one, { use, isChanged: true })
      return turn.kind === 'taken' ? null : { until: turn.until, heldBy: heldByLimit(one, turn.by, insteadOf) }
    },
    async store() {
      const changed = [...limited.values()].filter(({ isChanged }) => isChanged)
      if (changed.length > 0) await storeUses(tx, changed)
    },
  }
}

function limitedBy(one: FoundSender, uses: ReadonlyMap<string, ChannelUse>): [string, LimitedSender] {
  const { perSecond, dailyBudget, reserve, zone } = one
  const connection = connectionOf(one)
  const name = nameOf(connection)
  const limits = { perSecond, dailyBudget, reserve }
  return [name, { ...connection, limits, zone, use: uses.get(name) ?? UNUSED, isChanged: false }]
}

const nameOf = ({ businessId, channel, sender }: SenderKey): string => `${businessId} ${channel} ${sender}`
const rowOf = ({ businessId, channel, sender }: SenderKey) => ({ business_id: businessId, channel, key: sender })

/** The sender `default` goes without saying. */
const holding = ({ channel, sender }: SenderKey, insteadOf: SenderKey | undefined) => ({
  channel,
  ...(sender !== DEFAULT_SENDER && { sender }),
  ...(insteadOf && { insteadOf: insteadOf.sender }),
})

function heldByLimit(
  { limits, ...key }: LimitedSender,
  by: 'per_second' | 'daily_budget',
  insteadOf: SenderKey | undefined,
): HeldBy {
  const holder = holding(key, insteadOf)
  return by === 'per_second'
    ? { type: by, ...holder, perSecond: limits.perSecond ?? 0 }
    : { type: by, ...holder, dailyBudget: limits.dailyBudget ?? 0 }
}

/**
 * Prevents the paused senders from being opened until the end of the transaction: a resume waits for it, and then
 * releases what the pause holds. A sender that is being opened still counts as paused, because it may get other
 * settings. Returns the milliseconds until the messages of each sender are checked again.
 */
async function lockPaused(tx: Queryable, paused: readonly SenderKey[]): Promise<ReadonlyMap<string, number>> {
  if (paused.length === 0) return new Map()
  const asked = JSON.stringify(paused.map(rowOf))
  const locked = await tx<SenderKey[]>`
    select c.business_id as "businessId", c.channel, c.key as sender
    from json_to_recordset(${asked}::text::json) as c (business_id uuid, channel text, key text)
    where pg_try_advisory_xact_lock_shared(${tx.unsafe(OPENING_LOCK)})`
  const isLocked = new Set(locked.map(nameOf))
  // Read again, because a sender may have been opened since it was found.
  const still = await tx<SenderKey[]>`
    select c.business_id as "businessId", c.channel, c.key as sender
    from json_to_recordset(${asked}::text::json) as x (business_id uuid, channel text, key text)
    join senders c on c.business_id = x.business_id and c.channel = x.channel and c.key = x.key
    where c.paused_at is not null`
  return new Map(still.map(nameOf).map((name) => [name, isLocked.has(name) ? PAUSED_LOOK_MS : OPENING_LOOK_MS]))
}

interface UseRow extends SenderKey {
  second: number
  sentInSecond: number
  dayEndsAt: number
  sentInDay: number
  queueSecond: number
  queueTaken: number
  lateSecond: number
  lateTaken: number
  callSecond: number
  callTaken: number
  callsInSecond: number
}

async function lockUses(tx: Queryable, limited: readonly SenderKey[]): Promise<ReadonlyMap<string, ChannelUse>> {
  const asked = JSON.stringify(limited.map(rowOf))
  await tx`
    insert into sender_use (business_id, channel, sender)
    select x.business_id, x.channel, x.key
    from json_to_recordset(${asked}::text::json) as x (business_id uuid, channel text, key text)
    where not exists (
      select from sender_use u where u.business_id = x.business_id and u.channel = x.channel and u.sender = x.key
    )
    order by 1, 2, 3 on conflict do nothing`
  const rows = await tx<UseRow[]>`
    select u.business_id as "businessId", u.channel, u.sender, u.second, u.sent_in_second as "sentInSecond",
      u.day_ends_at as "dayEndsAt", u.sent_in_day as "sentInDay", u.queue_second as "queueSecond", u.queue_taken as "queueTaken",
      u.late_second as "lateSecond", u.late_taken as "lateTaken",
      u.call_second as "callSecond", u.call_taken as "callTaken", u.calls_in_second as "callsInSecond"
    from json_to_recordset(${asked}::text::json) as x (business_id uuid, channel text, key text)
    join sender_use u on u.business_id = x.business_id and u.channel = x.channel and u.sender = x.key
    order by u.business_id, u.channel, u.sender for update of u`
  return new Map(
    rows.map(({ second, sentInSecond, dayEndsAt, sentInDay, ...row }) => {
      const queue = { second: row.queueSecond, taken: row.queueTaken }
      const late = { second: row.lateSecond, taken: row.lateTaken }
      const calls = { second: row.callSecond, taken: row.callTaken }
      const { callsInSecond } = row
      return [nameOf(row), { second, sentInSecond, dayEndsAt, sentInDay, queue, late, calls, callsInSecond }]
    }),
  )
}

async function storeUses(tx: Queryable, changed: readonly LimitedSender[]): Promise<void> {
  const rows = changed.map(({ use: { queue, late, calls, ...use }, ...key }) => ({
    ...rowOf(key),
    second: use.second,
    sent_in_second: use.sentInSecond,
    day_ends_at: use.dayEndsAt,
    sent_in_day: use.sentInDay,
    queue_second: queue.second,
    queue_taken: queue.taken,
    late_second: late.second,
    late_taken: late.taken,
    call_second: calls.second,
    call_taken: calls.taken,
    calls_in_second: use.callsInSecond,
  }))
  await tx`
    update sender_use u set second = x.second, sent_in_second = x.sent_in_second, day_ends_at = x.day_ends_at,
      sent_in_day = x.sent_in_day, queue_second = x.queue_second, queue_taken = x.queue_taken, late_second = x.late_second,
      late_taken = x.late_taken, call_second = x.call_second, call_taken = x.call_taken, calls_in_second = x.calls_in_second
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, channel text, key text, second bigint,
      sent_in_second bigint, day_ends_at bigint, sent_in_day bigint, queue_second bigint, queue_taken bigint, late_second bigint,
      late_taken bigint, call_second bigint, call_taken bigint, calls_in_second bigint)
    where u.business_id = x.business_id and u.channel = x.channel and u.sender = x.key`
}
