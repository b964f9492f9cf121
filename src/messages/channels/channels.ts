/** Stores how a business sends messages of each channel. A channel without a row has the provider `log`. */
import { uuidv7 } from 'uuidv7'
import type { Queryable } from '../../stores/postgres.ts'
import { SealError, openSecret, sealSecret } from '../../stores/seal-secret.ts'
import type { ChannelLimits } from '../../rules/campaigns/channel-limits.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../templates/template.ts'
import type { ChannelSetup } from './provider.ts'
import { DEFAULT_PROVIDER } from './providers.ts'

/** A channel of a business. */
export interface ChannelKey {
  businessId: string
  channel: MessageChannel
}

/** The previous provider: its reports are accepted until then (epoch milliseconds). Its secrets are encrypted. */
export interface FormerChannel {
  provider: string
  settings: Record<string, unknown>
  secret: string
  callbackSource: string | null
  until: number
}

/** As stored. */
export interface StoredChannel extends ChannelLimits {
  channel: MessageChannel
  provider: string
  settings: Record<string, unknown>
  /** Encrypted; null when there is none. */
  secret: string | null
  /** Names of the secrets in it. */
  secretNames: string[]
  /** Changes with every change; null for a channel without a row. */
  revision: string | null
  updatedAt: Date | null
  /** Since when its messages wait, in epoch milliseconds, and why. Null: they do not. */
  pausedAt: number | null
  pauseReason: string | null
  former: FormerChannel | null
  /** The pinned identifier of its provider's reports: see `ProviderCallbacks.sourceOf`. Null: nothing was reported. */
  callbackSource: string | null
}

const unset = (channel: MessageChannel): StoredChannel => ({
  channel,
  provider: DEFAULT_PROVIDER.name,
  settings: {},
  secret: null,
  perSecond: null,
  dailyBudget: null,
  secretNames: [],
  revision: null,
  updatedAt: null,
  pausedAt: null,
  pauseReason: null,
  former: null,
  callbackSource: null,
})

/** In the order of `MESSAGE_CHANNELS`. */
export async function listChannels(sql: Queryable, businessId: string): Promise<StoredChannel[]> {
  const rows = await sql<StoredChannel[]>`
    select ${channelColumns(sql)} from channels where business_id = ${businessId}`
  return MESSAGE_CHANNELS.map((channel) => rows.find((row) => row.channel === channel) ?? unset(channel))
}

export async function loadChannel(sql: Queryable, { businessId, channel }: ChannelKey): Promise<StoredChannel> {
  const [row] = await sql<StoredChannel[]>`
    select ${channelColumns(sql)} from channels where business_id = ${businessId} and channel = ${channel}`
  return row ?? unset(channel)
}

/** Columns of a StoredChannel. */
const channelColumns = (sql: Queryable) => sql`
  channel, provider, settings, secret, to_json(secret_names) as "secretNames", per_second as "perSecond", daily_budget as "dailyBudget", revision,
  updated_at as "updatedAt", paused_at as "pausedAt", pause_reason as "pauseReason",
  former, callback_source as "callbackSource"`

/**
 * Stores a channel, which is then not paused. `now`: epoch milliseconds. Returns false, without a change, when the
 * channel has changed since `before` was read.
 */
export async function storeChannel(
  sql: Queryable,
  { businessId, channel }: ChannelKey,
  before: StoredChannel,
  next: Omit<StoredChannel, 'channel' | 'revision' | 'updatedAt' | 'pausedAt' | 'pauseReason'>,
  now: number,
): Promise<boolean> {
  const { provider, settings, secret, perSecond, dailyBudget } = next
  // Words of ours.
  const names = `{${next.secretNames.join(',')}}`
  const json = JSON.stringify(settings)
  const former = next.former && JSON.stringify(next.former)
  const { count } =
    before.revision === null
      ? await sql`
        insert into channels (business_id, channel, provider, settings, secret, secret_names, per_second, daily_budget, revision,
          opened_at, former, callback_source)
        values (${businessId}, ${channel}, ${provider}, ${json}::text::jsonb, ${secret}, ${names}::text::text[],
          ${perSecond}, ${dailyBudget}, ${uuidv7()}, ${now}, ${former}::text::jsonb, ${next.callbackSource})
        on conflict do nothing`
      : await sql`
        update channels set provider = ${provider}, settings = ${json}::text::jsonb, secret = ${secret},
          secret_names = ${names}::text::text[], per_second = ${perSecond}, daily_budget = ${dailyBudget},
          revision = ${uuidv7()}, updated_at = clock_timestamp(),
          paused_at = null, pause_reason = null, opened_at = ${now}, former = ${former}::text::jsonb,
          callback_source = ${next.callbackSource}
        where business_id = ${businessId} and channel = ${channel} and revision = ${before.revision}`
  return count === 1
}

/** Returns false when it had no settings. */
export async function deleteChannel(sql: Queryable, { businessId, channel }: ChannelKey): Promise<boolean> {
  const { count } = await sql`delete from channels where business_id = ${businessId} and channel = ${channel}`
  return count === 1
}

export function sealSecrets(key: ChannelKey, secrets: Record<string, unknown>, secretsKey: string): string {
  return sealSecret(secrets, ownerOf(key), secretsKey)
}

/** Throws SealError. */
export function openSetup(
  key: ChannelKey,
  { settings, secret }: Pick<StoredChannel, 'settings' | 'secret'>,
  secretsKey: string | undefined,
): ChannelSetup {
  return { settings, secret: secret === null ? {} : { ...openSecret(secret, ownerOf(key), secretsKey) } }
}

/** Undefined when there is none, or it cannot be decrypted. */
export function openIfPossible(
  key: ChannelKey,
  stored: StoredChannel,
  secretsKey: string | undefined,
): Record<string, unknown> | undefined {
  if (stored.secret === null) return undefined
  try {
    return openSetup(key, stored, secretsKey).secret
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}

/** The context that the secrets are bound to. */
const ownerOf = ({ businessId, channel }: ChannelKey): string => `${businessId} ${channel}`
