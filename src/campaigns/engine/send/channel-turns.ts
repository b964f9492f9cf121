/** Turns of channels with a limit, for a claim or for the test of a campaign. A paused channel gives no turns. */
import type { HeldBy } from '../../../rules/campaigns/checked-send.ts'
import { type ChannelLimits, type ChannelUse, UNUSED, takeTurn } from '../../../rules/campaigns/channel-limits.ts'
import { knownZone } from '../../../rules/campaigns/local-time.ts'
import type { ChannelKey } from '../../../messages/channels/channels.ts'
import { OPENING_LOCK } from '../../../messages/channels/opening-lock.ts'
import type { MessageChannel } from '../../../rules/messages/message-channel.ts'
import type { Queryable } from '../../../stores/postgres.ts'

/** The reason for a delay, and its end in epoch milliseconds. Null: the message may be sent. */
export type TakeTurn = (asked: {
  businessId: string
  channel: MessageChannel
  /** True when the message had a place in the queue, and its turn has come. */
  isQueued: boolean
  now: number
}) => { until: number; heldBy: HeldBy } | null

/** Milliseconds until messages that wait for a paused channel are checked again. A resume makes them due earlier. */
export const PAUSED_LOOK_MS = 3_600_000
/** The same for a channel that is being opened: whether it was opened is known soon. */
const OPENING_LOOK_MS = 1000

export interface ChannelTurns {
  take: TakeTurn
  /** Writes the turns that were taken. */
  store(): Promise<void>
}

/** A channel that has settings. */
interface FoundChannel extends ChannelLimits, ChannelKey {
  zone: string
  isPaused: boolean
}

interface LimitedChannel extends FoundChannel {
  use: ChannelUse
  isChanged: boolean
}

/**
 * Locks the counters of the channels until the end of the transaction, so that claims of other workers for the same
 * channel wait. The rows are locked in order, and after everything else, so that no claim waits while it holds them.
 */
export async function openTurns(tx: Queryable, channels: readonly ChannelKey[]): Promise<ChannelTurns> {
  const found = await findChannels(tx, channels)
  const withLimits = found.filter(({ perSecond, dailyBudget }) => perSecond !== null || dailyBudget !== null)
  const uses = withLimits.length === 0 ? new Map<string, ChannelUse>() : await lockUses(tx, withLimits)
  const limited = new Map<string, LimitedChannel>(
    withLimits.map((one) => [nameOf(one), { ...one, use: uses.get(nameOf(one)) ?? UNUSED, isChanged: false }]),
  )
  const paused = await lockPaused(
    tx,
    found.filter(({ isPaused }) => isPaused),
  )
  return {
    take({ businessId, channel, isQueued, now }) {
      const lookMs = paused.get(nameOf({ businessId, channel }))
      if (lookMs !== undefined) return { until: now + lookMs, heldBy: { type: 'channel_paused', channel } }
      const one = limited.get(nameOf({ businessId, channel }))
      if (one === undefined) return null
      const { turn, use } = takeTurn(one.use, one, { now, zone: one.zone, isQueued })
      Object.assign(one, { use, isChanged: true })
      return turn.kind === 'taken' ? null : { until: turn.until, heldBy: heldBy(one, turn.by) }
    },
    async store() {
      const changed = [...limited.values()].filter(({ isChanged }) => isChanged)
      if (changed.length > 0) await storeUses(tx, changed)
    },
  }
}

const nameOf = ({ businessId, channel }: ChannelKey): string => `${businessId} ${channel}`

function heldBy({ channel, perSecond, dailyBudget }: FoundChannel, by: 'per_second' | 'daily_budget'): HeldBy {
  return by === 'per_second'
    ? { type: by, channel, perSecond: perSecond ?? 0 }
    : { type: by, channel, dailyBudget: dailyBudget ?? 0 }
}

async function findChannels(tx: Queryable, channels: readonly ChannelKey[]): Promise<FoundChannel[]> {
  const used = new Set(channels.map(nameOf))
  const businesses = [...new Set(channels.map(({ businessId }) => businessId))]
  const found = await tx<(FoundChannel & { timezone: string })[]>`
    select c.business_id as "businessId", c.channel, c.per_second as "perSecond", c.daily_budget as "dailyBudget", b.timezone,
      c.paused_at is not null as "isPaused"
    from channels c join businesses b on b.id = c.business_id
    where c.business_id = any (${`{${businesses.join(',')}}`}::uuid[])`
  return found
    .filter((one) => used.has(nameOf(one)))
    .map(({ timezone, ...one }) => ({ ...one, zone: knownZone(timezone) }))
}

/**
 * Prevents the paused channels from being opened until the end of the transaction: a resume waits for it, and then
 * releases what the pause holds. A channel that is being opened still counts as paused, because it may get other
 * settings. Returns the milliseconds until the messages of each channel are checked again.
 */
async function lockPaused(tx: Queryable, paused: readonly FoundChannel[]): Promise<ReadonlyMap<string, number>> {
  if (paused.length === 0) return new Map()
  const asked = JSON.stringify(paused.map(({ businessId, channel }) => ({ business_id: businessId, channel })))
  const locked = await tx<ChannelKey[]>`
    select c.business_id as "businessId", c.channel
    from json_to_recordset(${asked}::text::json) as c (business_id uuid, channel text)
    where pg_try_advisory_xact_lock_shared(${tx.unsafe(OPENING_LOCK)})`
  const isLocked = new Set(locked.map(nameOf))
  // Read again, because a channel may have been opened since it was found.
  const found = await findChannels(tx, paused)
  return new Map(
    found.flatMap((one) => {
      const name = nameOf(one)
      return one.isPaused ? [[name, isLocked.has(name) ? PAUSED_LOOK_MS : OPENING_LOOK_MS]] : []
    }),
  )
}

interface UseRow {
  businessId: string
  channel: MessageChannel
  second: number
  sentInSecond: number
  dayEndsAt: number
  sentInDay: number
  queueSecond: number
  queueTaken: number
  lateSecond: number
  lateTaken: number
}

async function lockUses(tx: Queryable, limited: readonly FoundChannel[]): Promise<ReadonlyMap<string, ChannelUse>> {
  const asked = JSON.stringify(limited.map(({ businessId, channel }) => ({ business_id: businessId, channel })))
  await tx`
    insert into channel_use (business_id, channel)
    select x.business_id, x.channel from json_to_recordset(${asked}::text::json) as x (business_id uuid, channel text)
    where not exists (select from channel_use u where u.business_id = x.business_id and u.channel = x.channel)
    order by 1, 2 on conflict do nothing`
  const rows = await tx<UseRow[]>`
    select u.business_id as "businessId", u.channel, u.second, u.sent_in_second as "sentInSecond",
      u.day_ends_at as "dayEndsAt", u.sent_in_day as "sentInDay", u.queue_second as "queueSecond", u.queue_taken as "queueTaken",
      u.late_second as "lateSecond", u.late_taken as "lateTaken"
    from json_to_recordset(${asked}::text::json) as x (business_id uuid, channel text)
    join channel_use u on u.business_id = x.business_id and u.channel = x.channel
    order by u.business_id, u.channel for update of u`
  return new Map(
    rows.map(({ second, sentInSecond, dayEndsAt, sentInDay, ...row }) => {
      const queue = { second: row.queueSecond, taken: row.queueTaken }
      const late = { second: row.lateSecond, taken: row.lateTaken }
      return [nameOf(row), { second, sentInSecond, dayEndsAt, sentInDay, queue, late }]
    }),
  )
}

async function storeUses(tx: Queryable, changed: readonly LimitedChannel[]): Promise<void> {
  const rows = changed.map(({ businessId, channel, use: { queue, late, ...use } }) => ({
    business_id: businessId,
    channel,
    second: use.second,
    sent_in_second: use.sentInSecond,
    day_ends_at: use.dayEndsAt,
    sent_in_day: use.sentInDay,
    queue_second: queue.second,
    queue_taken: queue.taken,
    late_second: late.second,
    late_taken: late.taken,
  }))
  await tx`
    update channel_use u set second = x.second, sent_in_second = x.sent_in_second, day_ends_at = x.day_ends_at,
      sent_in_day = x.sent_in_day, queue_second = x.queue_second, queue_taken = x.queue_taken, late_second = x.late_second,
      late_taken = x.late_taken
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, channel text, second bigint,
      sent_in_second bigint, day_ends_at bigint, sent_in_day bigint, queue_second bigint, queue_taken bigint, late_second bigint,
      late_taken bigint)
    where u.business_id = x.business_id and u.channel = x.channel`
}
