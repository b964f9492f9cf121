/**
 * Reads how a business sends messages: the senders of each channel. A channel without rows has the sender `default`, of
 * the provider `log`.
 */
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelLimits } from '../../rules/campaigns/channel-limits.ts'
import type { Finding } from '../../rules/messages/sender-records.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../templates/template.ts'
import { DEFAULT_PROVIDER } from './providers.ts'

/** A channel of a business. */
export interface ChannelKey {
  businessId: string
  channel: MessageChannel
}

/** A sender of a channel. */
export interface SenderKey extends ChannelKey {
  sender: string
}

/** Every channel has the sender of this key. It is the channel's default until another one is made that. */
export const DEFAULT_SENDER = 'default'

/** The previous provider: its reports are accepted until then (epoch milliseconds). Its secrets are encrypted. */
export interface FormerChannel {
  provider: string
  settings: Record<string, unknown>
  secret: string
  callbackSource: string | null
  until: number
}

/** A sender, with the connection of the sender that it uses, if it uses one. */
export interface StoredChannel extends ChannelLimits {
  channel: MessageChannel
  key: string
  /** Its channel uses it for messages that name no sender. */
  isDefault: boolean
  /** The sender whose connection it uses, with its limits, pauses and callbacks. */
  via: string | null
  /** The sender that takes its messages while it is paused or unreachable. */
  fallback: string | null
  provider: string
  /** Its own ones go before those of its connection. */
  settings: Record<string, unknown>
  ownSettings: Record<string, unknown>
  /** Encrypted; null when there is none. */
  secret: string | null
  /** Names of the secrets in it. */
  secretNames: string[]
  /** Changes with every change; null for a sender without a row. */
  revision: string | null
  /** The same of its connection; null when it has its own. */
  viaRevision: string | null
  updatedAt: Date | null
  /** Since when its messages wait, in epoch milliseconds, and why. Null: they do not. */
  pausedAt: number | null
  pauseReason: string | null
  /** Since when no connection has come about, in epoch milliseconds. Null: it may have. */
  unreachableAt: number | null
  /** What was found in DNS. Null: nobody has looked. */
  checked: StoredCheck | null
  former: FormerChannel | null
  /** The pinned identifier of its provider's reports: see `ProviderCallbacks.sourceOf`. Null: nothing was reported. */
  callbackSource: string | null
}

/** `at`: ISO 8601 UTC. `selectors`: those that a person has named. */
export interface StoredCheck {
  at: string
  domain: string
  findings: Finding[]
  selectors?: string[]
}

export const unset = (channel: MessageChannel, isDefault = true): StoredChannel => ({
  channel,
  key: DEFAULT_SENDER,
  isDefault,
  via: null,
  fallback: null,
  provider: DEFAULT_PROVIDER.name,
  settings: {},
  ownSettings: {},
  secret: null,
  perSecond: null,
  dailyBudget: null,
  reserve: 0,
  secretNames: [],
  revision: null,
  viaRevision: null,
  updatedAt: null,
  pausedAt: null,
  pauseReason: null,
  unreachableAt: null,
  checked: null,
  former: null,
  callbackSource: null,
})

/** The default sender of each channel, in the order of `MESSAGE_CHANNELS`. */
export async function listChannels(sql: Queryable, businessId: string): Promise<StoredChannel[]> {
  const all = await listSenders(sql, businessId)
  return all.filter(({ isDefault }) => isDefault)
}

/** Channels in the order of `MESSAGE_CHANNELS`, the senders of each by key. Every channel has its sender `default`. */
export async function listSenders(sql: Queryable, businessId: string): Promise<StoredChannel[]> {
  const rows = await sql<SenderRow[]>`
    select ${senderColumns(sql)} from senders s ${withConnection(sql)} where s.business_id = ${businessId} and s.deleted_at is null order by s.key`
  return MESSAGE_CHANNELS.flatMap((channel) => {
    const senders = rows.filter((row) => row.channel === channel)
    const moved = senders.find((row) => row.isDefault)
    const shown = senders.map((row) => storedSender(row, (moved?.key ?? DEFAULT_SENDER) === row.key))
    return senders.some(({ key }) => key === DEFAULT_SENDER) ? shown : [unset(channel, moved === undefined), ...shown]
  })
}

/** Returns the default sender of the channel. */
export async function loadChannel(sql: Queryable, { businessId, channel }: ChannelKey): Promise<StoredChannel> {
  const [row] = await sql<SenderRow[]>`
    select ${senderColumns(sql)} from senders s ${withConnection(sql)}
    where s.business_id = ${businessId} and s.channel = ${channel} and (s.is_default or s.key = ${DEFAULT_SENDER})
    order by s.is_default desc limit 1`
  return row === undefined ? unset(channel) : storedSender(row, true)
}

/** Null when the channel has no such sender. `deletedAfter` (epoch milliseconds): one that was deleted then counts, too. */
export async function loadSender(
  sql: Queryable,
  { businessId, channel, sender }: SenderKey,
  deletedAfter: number | null = null,
): Promise<StoredChannel | null> {
  const rows = await sql<SenderRow[]>`
    select ${senderColumns(sql)} from senders s ${withConnection(sql)}
    where s.business_id = ${businessId} and s.channel = ${channel} and (s.deleted_at is null or s.deleted_at > ${deletedAfter})
      and (s.key = ${sender} or s.is_default)`
  const moved = rows.find((row) => row.isDefault)
  const isDefault = (moved?.key ?? DEFAULT_SENDER) === sender
  const row = rows.find(({ key }) => key === sender)
  if (row !== undefined) return storedSender(row, isDefault)
  return sender === DEFAULT_SENDER ? unset(channel, isDefault) : null
}

/** The channels that have a sender of this key. */
export async function channelsOfSender(sql: Queryable, businessId: string, key: string): Promise<MessageChannel[]> {
  const rows = await sql<{ channel: MessageChannel }[]>`
    select channel from senders where business_id = ${businessId} and key = ${key} and deleted_at is null order by channel`
  return rows.map(({ channel }) => channel)
}

interface SenderRow extends Omit<StoredChannel, 'ownSettings'> {
  viaSettings: Record<string, unknown> | null
}

const storedSender = ({ viaSettings, ...row }: SenderRow, isDefault: boolean): StoredChannel => ({
  ...row,
  isDefault,
  ownSettings: row.settings,
  settings: { ...viaSettings, ...row.settings },
})

/** Columns of a SenderRow, from `senders s` and its connection `c`. */
const senderColumns = (sql: Queryable) => sql`
  s.channel, s.key, s.is_default as "isDefault", s.via, s.fallback, coalesce(c.provider, s.provider) as provider, s.settings,
  c.settings as "viaSettings", coalesce(c.secret, s.secret) as secret, to_json(coalesce(c.secret_names, s.secret_names)) as "secretNames",
  coalesce(c.per_second, s.per_second) as "perSecond", coalesce(c.daily_budget, s.daily_budget) as "dailyBudget",
  coalesce(c.reserve, s.reserve) as reserve, s.revision, c.revision as "viaRevision", s.updated_at as "updatedAt",
  coalesce(c.paused_at, s.paused_at) as "pausedAt", coalesce(c.pause_reason, s.pause_reason) as "pauseReason",
  coalesce(c.unreachable_at, s.unreachable_at) as "unreachableAt", s.checked, s.former, coalesce(c.callback_source, s.callback_source) as "callbackSource"`

const withConnection = (sql: Queryable) => sql`
  left join senders c on c.business_id = s.business_id and c.channel = s.channel and c.key = s.via`

/** The sender whose connection it takes. */
export const connectionOf = (
  businessId: string,
  { channel, key, via }: Pick<StoredChannel, 'channel' | 'key' | 'via'>,
): SenderKey => ({ businessId, channel, sender: via ?? key })
